#include "app/fit_log_det.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/log_det_report.h"

namespace ockham::app {
namespace {

constexpr int64_t kMostSteps = 100;

}  // namespace

double slq_epochs(const LogDetFlags& flags) {
  // Of a training epoch's three parts (outputs, gradients at the layers, gradients of the weights) a product has four.
  return flags.estimated() ? 4.0 / 3 * static_cast<double>(flags.probes * flags.steps) : 0;
}

int64_t slq_hyper_steps(int64_t automatic, int64_t usual, int64_t frequency) {
  return std::max(automatic, std::min(kMostSteps, automatic * std::min(kMostSteps, frequency / usual)));
}

std::string slq_words(const LogDetFlags& flags) {
  return fmt::format(
      "log determinants are estimated from {} probes (--slq-probes), with error bars; predictions are those of the {} "
      "structure (--slq-preconditioner)",
      flags.probes, word_of(flags.preconditioner));
}

std::string estimate_doubt(const CandidateResult& first, const CandidateResult& second) {
  const double lead = first.ranked.mean - second.ranked.mean;
  const double one = evidence_half_width(first.log_det_error), other = evidence_half_width(second.log_det_error);
  if (lead > std::hypot(one, other) || one + other == 0) return {};
  return fmt::format(
      "'{}' is ahead of '{}' by {:.2f} nats only, within the error bars of their estimates (± {:.2f} and ± {:.2f}): "
      "more --slq-probes would show whether this decides",
      first.network, second.network, lead, one, other);
}

}  // namespace ockham::app
