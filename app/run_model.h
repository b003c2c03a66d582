// The model of a run directory, for the subcommands that use one.
#pragma once

#include <string>

#include "ockham/predict/trained_model.h"

namespace ockham::app {

/// Throws Error(data) when there is no such run, or when it has no model yet.
TrainedModel load_run_model(const std::string& run);

/// Throws Error(usage) when the file to write, given by `flag`, is one that is read, or a directory.
void expect_other_file(const std::string& flag, const std::string& written, const std::string& read);

}  // namespace ockham::app
