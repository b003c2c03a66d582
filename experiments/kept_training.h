// A training inside a cell: it goes on from its checkpoint, writes one a minute and ends when the run is interrupted.
#pragma once

#include <string>

#include "experiments/experiment.h"
#include "ockham/train/train_online.h"

namespace ockham::paper {

/// `train_online` with the checkpoint `<context.directory>/<name>.checkpoint` (none when the directory is empty): an
/// interrupted training goes on from it to the same result, and a finished one of another start of the same cell is not
/// repeated. Sets `resume` and `after_batch` of the options. A checkpoint that cannot be read is as none. Throws
/// Interrupted when `context.go_on` says so, with the state written down.
OnlineResult train_kept(const CellContext& context, const Model& model, const Dataset& data, OnlineOptions options,
                        const std::string& name = "training");

/// The context for a part of a cell's work: its fractions 0 … 1 are `first` … `last` of the whole.
CellContext part_of(const CellContext& context, double first, double last);

/// The context for part `index` of `count` equal ones.
CellContext part_of(const CellContext& context, int64_t index, int64_t count);

}  // namespace ockham::paper
