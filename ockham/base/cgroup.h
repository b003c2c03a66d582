// Linux control groups: the limits that a container or a batch system puts on this process.
#pragma once

#include <string>
#include <vector>

namespace ockham {

/// Directories of this process's control group and its ancestors, innermost first, in the unified hierarchy (version 2)
/// and in that of `controller` (version 1: "cpu", "memory"); empty where there are none.
std::vector<std::string> cgroup_directories(const std::string& controller);

/// First line of a file, or empty when it cannot be read.
std::string read_line(const std::string& path);

}  // namespace ockham
