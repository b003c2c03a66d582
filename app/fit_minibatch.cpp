#include "app/fit_minibatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/counted.h"
#include "ockham/base/error.h"
#include "ockham/data/partition.h"
#include "ockham/evidence/minibatch_bound.h"

namespace ockham::app {

PartitionSizes batch_sizes(const MinibatchFlags& flags, int64_t columns) {
  PartitionSizes sizes;
  sizes.largest = flags.batch.value_or(automatic_evidence_batch(columns));
  sizes.shared = flags.shared.value_or(sizes.largest / 2);
  if (sizes.shared >= sizes.largest)
    throw Error(ErrorKind::usage,
                fmt::format("--evidence-shared: {} examples cannot be shared by batches of {}; give fewer, or a larger "
                            "--evidence-batch",
                            sizes.shared, sizes.largest));
  return sizes;
}

int64_t minibatch_hyper_steps(int64_t automatic, int64_t examples, const PartitionSizes& sizes) {
  return std::min(automatic, std::max<int64_t>(10, batch_count(examples, sizes) / 4));
}

double batches_a_pass(const OnlineOptions& options, int64_t examples) {
  const int64_t batches = batch_count(examples, options.evidence_batch);
  const auto passes_in = [&](int64_t epochs) {
    return static_cast<double>(std::max<int64_t>(0, epochs) / options.frequency) + 1;
  };
  const double passes = passes_in(options.epochs - options.burn_in);
  const double counted = std::min(passes, passes_in(options.epochs - options.best_after) + std::log2(passes));
  const double fits = options.evidence_batch.shared > 0 ? 2 : 1;  // of a batch: that of its companions besides
  return fits * (static_cast<double>(std::clamp<int64_t>(options.hyper.steps, 1, batches)) +
                 static_cast<double>(batches) * counted / passes);
}

void use_minibatch(FitPlan& plan, const FitData& data, Messages& messages) {
  OnlineOptions& online = plan.options.online;
  online.evidence_batch = {*plan.flags.minibatch.batch, *plan.flags.minibatch.shared};
  online.laplace.curvature.structure = Structure::full;
  const PartitionSizes sizes = online.evidence_batch.within(data.training.size());
  for (const Candidate& candidate : plan.candidates) {
    try {
      check_batches(candidate.make(0), data.training.inputs(), sizes, online.laplace);
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("--network {}: {}", candidate.network, error.what()));
    }
  }
  plan.evidence_batches = batch_count(data.training.size(), sizes);
  const std::string what =
      plan.is_bound() ? fmt::format(
                            "lower bounds, from {} of at most {} (--evidence-batch), {} of them shared "
                            "(--evidence-shared), and rank the candidates",
                            counted(plan.evidence_batches, "batch"), counted(sizes.largest, "example"), sizes.shared)
                      : "those of the full structure, since one batch (--evidence-batch) has all examples";
  messages.add(fmt::format("evidences are {}; predictions are those of the {} structure (--structure)", what,
                           word_of(plan.flags.structure)));
}

std::string evidence_words(const FitPlan& plan) {
  const FitFlags& flags = plan.flags;
  const std::string rest =
      fmt::format("{} curvature, {} likelihood", word_of(flags.curvature), name_of(plan.likelihood));
  if (flags.log_det.estimated())
    return fmt::format(
        "full structure with an estimated log determinant, {}; predictions are those of the {} structure", rest,
        word_of(flags.log_det.preconditioner));
  if (!flags.minibatch.chosen()) return fmt::format("{} structure, {}", word_of(flags.structure), rest);
  const std::string bound = plan.is_bound()
                                ? fmt::format("a lower bound from batches of at most {}, {} of them shared, ",
                                              counted(*flags.minibatch.batch, "example"), *flags.minibatch.shared)
                                : "";
  return fmt::format("{}full structure, {}; predictions are those of the {} structure", bound, rest,
                     word_of(flags.structure));
}

}  // namespace ockham::app
