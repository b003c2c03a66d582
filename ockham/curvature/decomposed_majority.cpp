#include "ockham/curvature/decomposed_majority.h"

#include <ATen/ATen.h>

#include <map>

namespace ockham {

Majority majority_group(const BlockSpan& span) {
  std::map<int64_t, int64_t> weights;
  for (const BlockSpan::Run& run : span.runs()) weights[run.group] += run.size;
  Majority result;
  int64_t most = 0;
  for (const auto& [group, count] : weights) {
    if (count > most) {
      most = count;
      result.group = group;
    }
  }
  std::vector<at::Tensor> main = {at::empty({0}, at::kLong)}, rest = main;
  for (const BlockSpan::Run& run : span.runs()) {
    (run.group == result.group ? main : rest).push_back(at::arange(run.first, run.first + run.size, at::kLong));
  }
  result.main = at::cat(main);
  result.rest = at::cat(rest);
  return result;
}

}  // namespace ockham
