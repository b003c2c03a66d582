// The flags of the minibatch bound, which fit and evidence share. Knows no libtorch.
#pragma once

#include <cstdint>
#include <optional>

#include "app/log_det_flags.h"

namespace ockham::app {

enum class EvidenceChoice { whole, minibatch };

struct MinibatchFlags {
  EvidenceChoice evidence = EvidenceChoice::whole;
  std::optional<int64_t> batch;   // examples of a batch, at most; absent: auto
  std::optional<int64_t> shared;  // those of them that are of batches before it; absent: auto

  bool chosen() const { return evidence == EvidenceChoice::minibatch; }
};

/// --evidence, --evidence-batch and --evidence-shared.
void add_minibatch_flags(CLI::App& app, MinibatchFlags& flags);

/// Refuses the other two without --evidence minibatch, more shared examples than a batch has, and --curvature mc or
/// --log-det slq beside --evidence minibatch.
void check_minibatch_flags(const MinibatchFlags& flags, CurvatureChoice curvature, const LogDetFlags& log_det);

}  // namespace ockham::app
