// ockham evidence --evidence minibatch.
#include "app/evidence_report.h"
#include "app/fit_minibatch.h"
#include "ockham/base/random.h"
#include "ockham/data/partition.h"
#include "ockham/evidence/minibatch_bound.h"

namespace ockham::app {
namespace {

constexpr uint64_t kPartitionStream = 0x65766964656e6365;

}  // namespace

void add_bound(const Model& model, const Dataset& data, const LaplaceOptions& options, const EvidenceFlags& flags,
               EvidenceReport& report) {
  const int64_t columns = root_columns(model.likelihood, report.outputs, {options.curvature.kind});
  const PartitionSizes sizes = batch_sizes(flags.minibatch, columns);
  const Partition partition =
      make_partition(data.inputs(), sizes, random_stream({flags.common.seed, kPartitionStream}));
  PartitionBound bound = bound_over_partition(model, data, partition, options);
  report.evidence = std::move(bound.evidence);
  report.batches = bound.batches;
  report.largest_batch = bound.largest_batch;
  report.shared = bound.shared;
  report.clipped.clipped = bound.clipped_eigenvalues;
  report.seconds_curvature = bound.seconds_curvature;
  report.seconds_decompose = bound.seconds_decompose;
  report.messages = std::move(bound.messages);
}

}  // namespace ockham::app
