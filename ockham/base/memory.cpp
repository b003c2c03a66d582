#include "ockham/base/memory.h"

#include <malloc.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>

#include "ockham/base/cgroup.h"

namespace ockham {
namespace {

constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();

/// "Name:  123 kB" in a file of /proc, in bytes; -1 when absent.
int64_t proc_bytes(const char* path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, name.size(), name) != 0 || line.size() <= name.size() || line[name.size()] != ':') continue;
    std::istringstream value(line.substr(name.size() + 1));
    int64_t kilobytes = 0;
    if (value >> kilobytes) return kilobytes * 1024;
  }
  return -1;
}

/// A limit or a level in bytes; "max", absence and version 1's huge number mean no limit.
int64_t cgroup_bytes(const std::string& path) {
  std::istringstream line(read_line(path));
  int64_t bytes = 0;
  return line >> bytes && bytes < (int64_t{1} << 60) ? bytes : -1;
}

/// Page cache in the group that the kernel would give back before it refuses memory.
int64_t reclaimable_bytes(const std::string& directory) {
  std::ifstream file(directory + "/memory.stat");
  int64_t found = 0;
  std::string name;
  for (int64_t value = 0; file >> name >> value;)
    if (name == "inactive_file" || name == "total_inactive_file") found = std::max(found, value);
  return found;
}

int64_t cgroup_available() {
  int64_t available = unlimited;
  for (const std::string& directory : cgroup_directories("memory")) {
    for (auto [limit_file, level_file] :
         {std::pair("/memory.max", "/memory.current"), std::pair("/memory.limit_in_bytes", "/memory.usage_in_bytes")}) {
      const int64_t limit = cgroup_bytes(directory + limit_file);
      if (limit < 0) continue;
      const int64_t level = std::max<int64_t>(cgroup_bytes(directory + level_file), 0);
      const int64_t used = std::max<int64_t>(level - reclaimable_bytes(directory), 0);
      available = std::min(available, std::max<int64_t>(limit - used, 0));
    }
  }
  return available;
}

int64_t address_space_available() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  const int64_t used = std::max<int64_t>(proc_bytes("/proc/self/status", "VmSize"), 0);
  return std::max<int64_t>(static_cast<int64_t>(limit.rlim_cur) - used, 0);
}

}  // namespace

int64_t available_memory_bytes() {
  int64_t machine = proc_bytes("/proc/meminfo", "MemAvailable");
  if (machine < 0) machine = static_cast<int64_t>(sysconf(_SC_AVPHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return std::min({machine, cgroup_available(), address_space_available()});
}

int64_t default_memory_budget() { return available_memory_bytes() / 4 * 3; }

int64_t peak_memory_bytes() {
  const int64_t peak = proc_bytes("/proc/self/status", "VmHWM");
  if (peak >= 0) return peak;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
}

void reset_peak_memory() {
  // proc(5): writing 5 sets VmHWM to the current resident set size.
  std::ofstream("/proc/self/clear_refs") << "5";
}

int64_t resident_memory_bytes() { return std::max<int64_t>(proc_bytes("/proc/self/status", "VmRSS"), 0); }

std::string human_bytes(int64_t bytes) {
  const char* units[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  // 999.5 would be printed as 1000.
  while (std::abs(value) >= 999.5 && unit + 1 < std::size(units)) {
    value /= 1000;
    ++unit;
  }
  char text[32];
  const bool fraction = unit > 0 && std::abs(value) < 9.95;
  std::snprintf(text, sizeof text, fraction ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kLargest = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kLargest);
  mallopt(M_TRIM_THRESHOLD, kLargest);
#endif
}

}  // namespace ockham
