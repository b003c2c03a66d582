// ockham predict: its flags.
#pragma once

#include <cstdint>
#include <string>

#include "app/flags.h"
#include "app/table_flags.h"

namespace ockham::app {

enum class MethodChoice { automatic, map, linearised, probit, sampled };

/// The word on the command line and in the JSON.
const char* word_of(MethodChoice choice);

struct PredictFlags {
  CommonFlags common;
  std::string run;              // a run directory
  std::string data;             // CSV file, "-" for standard input
  std::string inputs, targets;  // .npy files instead
  TableFlags table;
  std::string out;  // CSV file; empty: standard output
  MethodChoice method = MethodChoice::automatic;
  int64_t samples = 0;  // 0: not given
};

void declare_predict(CLI::App& app, PredictFlags& flags);

/// In the engine (predict.cpp).
int run_predict(const PredictFlags& flags);

}  // namespace ockham::app
