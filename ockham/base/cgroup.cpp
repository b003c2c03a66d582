#include "ockham/base/cgroup.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace ockham {
namespace {

void add_with_ancestors(const std::string& mount, std::string path, std::vector<std::string>& directories) {
  while (path.size() > 1) {
    directories.push_back(mount + path);
    path.erase(path.rfind('/'));
  }
  // Inside a container the mount point itself is the process's group, whatever path /proc names.
  directories.push_back(mount);
}

bool contains_word(const std::string& comma_separated, const std::string& word) {
  std::istringstream stream(comma_separated);
  for (std::string part; std::getline(stream, part, ',');)
    if (part == word) return true;
  return false;
}

}  // namespace

std::vector<std::string> cgroup_directories(const std::string& controller) {
  std::vector<std::string> directories;
  std::ifstream groups("/proc/self/cgroup");
  // Each line is hierarchy:controllers:path; version 2 has no controllers.
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      add_with_ancestors("/sys/fs/cgroup", path, directories);
    } else if (contains_word(controllers, controller)) {
      add_with_ancestors("/sys/fs/cgroup/" + controller, path, directories);
    }
  }
  return directories;
}

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace ockham
