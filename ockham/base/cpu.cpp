#include "ockham/base/cpu.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <thread>

#include "ockham/base/cgroup.h"

namespace ockham {
namespace {

/// CPUs' worth of time that the control groups allow, or 0 when they set no limit.
double cgroup_cpu_limit() {
  double limit = 0;
  auto consider = [&limit](double quota, double period) {
    if (quota > 0 && period > 0 && (limit == 0 || quota / period < limit)) limit = quota / period;
  };
  for (const std::string& directory : cgroup_directories("cpu")) {
    std::istringstream unified(read_line(directory + "/cpu.max"));
    double quota = 0, period = 0;
    if (unified >> quota >> period) consider(quota, period);  // "max 100000" is no number: no limit
    std::istringstream old_quota(read_line(directory + "/cpu.cfs_quota_us"));
    std::istringstream old_period(read_line(directory + "/cpu.cfs_period_us"));
    if (old_quota >> quota && old_period >> period) consider(quota, period);
  }
  return limit;
}

}  // namespace

int available_cpus() {
  int cpus = static_cast<int>(std::thread::hardware_concurrency());
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) cpus = CPU_COUNT(&mask);
  const double limit = cgroup_cpu_limit();
  if (limit > 0) cpus = std::min(cpus, static_cast<int>(std::ceil(limit)));
  return std::max(cpus, 1);
}

VectorUnit cpu_vector_unit() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return VectorUnit::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return VectorUnit::avx2;
  if (__builtin_cpu_supports("avx")) return VectorUnit::avx;
#endif
  return VectorUnit::baseline;
}

}  // namespace ockham
