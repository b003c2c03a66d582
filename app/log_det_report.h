// What is said about a log determinant that is estimated.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "app/log_det_flags.h"
#include "ockham/evidence/evidence.h"

namespace ockham::app {

/// Half the width of the 95 % interval of the evidence, half of that of log|H|; 0 where nothing is estimated.
double evidence_half_width(const std::optional<LogDetError>& error);

nlohmann::ordered_json log_det_error_json(const LogDetError& error, const LogDetFlags& flags);

/// "  ± 1.2 (95 %, 10 probes), Lanczos bias -0.01", a line that follows the value.
std::string log_det_error_line(const LogDetError& error, const LogDetFlags& flags);

}  // namespace ockham::app
