// ockham predict: its flags.
#pragma once

#include <cstdint>
#include <string>

#include "app/flags.h"
#include "app/table_flags.h"

namespace ockham::app {

enum class MethodChoice { automatic, map, linearised, probit, sampled };

enum class ScopeChoice { whole, last_layer };
enum class SetChoice { automatic, training, test };

/// The word on the command line and in the JSON.
const char* word_of(MethodChoice choice);
const char* word_of(ScopeChoice choice);

struct PredictFlags {
  CommonFlags common;
  std::string run;              // a run directory
  std::string data;             // CSV file, "-" for standard input; or a directory of images
  std::string inputs, targets;  // .npy files instead
  TableFlags table;
  std::string out;  // CSV file; empty: standard output
  MethodChoice method = MethodChoice::automatic;
  ScopeChoice scope = ScopeChoice::whole;
  int64_t samples = 0;  // 0: not given
  // Images.
  std::string ood;                       // a directory of other images
  SetChoice set = SetChoice::automatic;  // which part of a directory
  int64_t size = 0;                      // so many of them; 0: all
};

void declare_predict(CLI::App& app, PredictFlags& flags);

/// In the engine (predict.cpp).
int run_predict(const PredictFlags& flags);

}  // namespace ockham::app
