// The cells of toy-classification, for its tables and for its figures.
#pragma once

#include <string>
#include <vector>

#include "experiments/experiment.h"
#include "experiments/toy_training.h"

namespace ockham::paper {

inline constexpr const char* toy_activations[] = {"tanh", "relu"};

struct BananaSettings {
  std::string name;   // in the cells' names
  std::string title;  // in tables and figures
  OnlineOptions online;
};
/// The paper's 200 steps, and both networks trained until the weakly regularised one fits its training rows.
std::vector<BananaSettings> banana_settings(const Settings& settings);

enum class Regularisation { online, weak };
std::string banana_cell(const std::string& settings, const std::string& activation, Regularisation kind,
                        uint64_t data_seed, uint64_t network_seed);

/// Traces and probability maps of the first seeds.
void add_banana_figures(const Settings& settings, const Results& results, Presentation& out);

}  // namespace ockham::paper
