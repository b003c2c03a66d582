// The settings of a fit by the names of their flags: for config.toml, run.json and the comparison of two runs. Knows no
// libtorch.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/fit_flags.h"

namespace ockham::app {

/// A flag (without dashes) and its values; `auto` stands for one that is absent.
struct FitSetting {
  std::string flag;
  std::vector<std::string> values;
};

/// Everything that decides the result, in the order of the help; flags that are off or empty are left out.
std::vector<FitSetting> list_fit_settings(const FitFlags& flags);

/// The same with the values of a list separated by commas.
std::vector<std::pair<std::string, std::string>> fit_settings(const FitFlags& flags);

/// config.toml: `ockham fit --config config.toml` does the same again. The preset is in it for the record: it has
/// nothing to fill any more.
std::string fit_toml(const FitFlags& resolved);

}  // namespace ockham::app
