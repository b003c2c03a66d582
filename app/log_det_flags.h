// How the log determinant of the full structure is computed: the flags that evidence and fit share. Knows no libtorch.
#pragma once

#include <cstdint>

#include "app/model_flags.h"

namespace ockham::app {

enum class LogDetChoice { exact, slq };

struct LogDetFlags {
  LogDetChoice method = LogDetChoice::exact;
  int64_t probes = 10, steps = 30;
  StructureChoice preconditioner = StructureChoice::kron;

  bool estimated() const { return method == LogDetChoice::slq; }
};

const char* word_of(LogDetChoice choice);

/// --log-det --slq-probes --slq-steps --slq-preconditioner
void add_log_det(CLI::App& app, LogDetFlags& flags);

/// After parsing: --log-det slq makes an unnamed structure full; flags that do not go together are refused by
/// CLI::ValidationError.
void settle_log_det(const CLI::App& app, const LogDetFlags& flags, StructureChoice& structure,
                    CurvatureChoice curvature);

/// An estimate follows groups of weights, not every weight by itself: throws Error(usage).
void check_prior(const LogDetFlags& flags, PriorChoice prior);

}  // namespace ockham::app
