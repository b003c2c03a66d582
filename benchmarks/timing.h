// How long something takes, for the programs here.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace ockham::bench {

inline double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace ockham::bench
