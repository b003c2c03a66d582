// ockham fit --resume: what the command line leaves open is as the run's config.toml has it. Knows no libtorch.
#pragma once

#include <string>
#include <vector>

#include "app/fit_flags.h"

namespace ockham::app {

/// The flags of the run `given.out`, completed by those of the command line that are no settings (--time-limit,
/// --quiet, ...). `line` has parsed `arguments` into `given`. Throws Error(usage) for a flag that contradicts the run,
/// with both values, and Error(data) when the run's configuration cannot be read. A directory without one is left to
/// the engine, when the flags are complete without it.
FitFlags resume_flags(const FitFlags& given, const CLI::App& line, std::vector<std::string> arguments);

}  // namespace ockham::app
