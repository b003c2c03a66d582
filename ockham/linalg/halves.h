// Private to linalg/: work in two halves, on two threads where this thread may use them.
#pragma once

#include <functional>
#include <vector>

namespace ockham {

/// A phase does half 0 or half 1 of its work, the same pieces whoever does them; it must not throw.
using Phase = std::function<void(int half)>;

/// Runs the phases one after the other. When ATen may use two threads here, a second one is started and does what it
/// can of the second halves; on a busy machine, where it comes late, this thread does them itself and does not wait.
/// For phases of a tenth of a millisecond and more. (at::parallel_for would need OpenMP's compiler flag.)
void run_in_halves(const std::vector<Phase>& phases);

}  // namespace ockham
