// What is said about a log determinant that is estimated.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "app/log_det_flags.h"
#include "ockham/evidence/evidence.h"

namespace ockham::app {

nlohmann::ordered_json log_det_error_json(const LogDetError& error, const LogDetFlags& flags);

/// "  ± 1.2 (95 %, 10 probes), Lanczos bias -0.01", a line that follows the value.
std::string log_det_error_line(const LogDetError& error, const LogDetFlags& flags);

}  // namespace ockham::app
