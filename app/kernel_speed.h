// Measured speed of the kernels that an evidence spends its time in.
#pragma once

#include <string>
#include <vector>

namespace ockham::app {

struct KernelSpeed {
  std::string name;         // "sgemm", "dgemm", "ssyrk", "cholesky", "convolution"
  std::string description;  // what was measured, for people
  double gflops = 0;
};

/// Takes about half a second.
std::vector<KernelSpeed> measure_kernels();

}  // namespace ockham::app
