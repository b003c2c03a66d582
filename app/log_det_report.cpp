#include "app/log_det_report.h"

#include <fmt/format.h>

namespace ockham::app {

double evidence_half_width(const std::optional<LogDetError>& error) { return error ? 0.5 * error->half_width : 0; }

nlohmann::ordered_json log_det_error_json(const LogDetError& error, const LogDetFlags& flags) {
  return {{"standard_error", error.standard_error},
          {"half_width_95", error.half_width},
          {"lanczos_bias", error.lanczos_bias},
          {"probes", flags.probes},
          {"steps", flags.steps},
          {"preconditioner", word_of(flags.preconditioner)}};
}

std::string log_det_error_line(const LogDetError& error, const LogDetFlags& flags) {
  return fmt::format("  {:<28}{:>18}  95 %, {} probes; {} Lanczos steps, the second half changed it by {:.3g}\n", "",
                     fmt::format("± {:.6f}", error.half_width), flags.probes, flags.steps, error.lanczos_bias);
}

}  // namespace ockham::app
