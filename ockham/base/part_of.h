// A range of n things cut into parts of about equal length, one after the other.
#pragma once

#include <cstdint>

namespace ockham {

/// Part `index` of `count`, from 0.
struct Part {
  int64_t index = 0, count = 1;
};

struct Range {
  int64_t first = 0, length = 0;
  int64_t end() const { return first + length; }
};

/// [n·index/count, n·(index + 1)/count): empty only where there are fewer things than parts.
inline Range part_of(int64_t n, const Part& part) {
  const int64_t first = n * part.index / part.count;
  return {first, n * (part.index + 1) / part.count - first};
}

}  // namespace ockham
