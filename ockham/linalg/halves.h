// Private to linalg/: work in two halves, on two threads where this thread may use them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace ockham {

/// A phase does half 0 or half 1 of its work, the same pieces whoever does them; it must not throw.
using Phase = std::function<void(int half)>;

/// A triangle in two halves: its own two triangles, of `top` and n - top rows, and the square between them, of which
/// the first half has the rows [top, top + middle). About as much work for both, in pieces of 8 rows.
struct TriangleHalves {
  explicit TriangleHalves(int64_t n);
  int64_t top, bottom, middle;
};

/// Runs the phases one after the other. Where this thread may use two (`allowed_threads`), a companion thread does what
/// it can of the second halves; on a busy machine, where it comes late or works for another caller, this thread does
/// them itself and does not wait. The companion is started once and stays awake for a few milliseconds after its last
/// work, so that phases of a tenth of a millisecond gain. (at::parallel_for would need OpenMP's compiler flag, and
/// threads that OpenMP lets sleep wake too slowly.)
void run_in_halves(const std::vector<Phase>& phases);

}  // namespace ockham
