// Messages for the user: on stderr at once, and in the JSON at the end.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

namespace ockham::app {

class Messages {
 public:
  explicit Messages(bool quiet) : quiet_(quiet) {}
  void add(const std::string& message) {
    if (!quiet_) fmt::print(stderr, "{}\n", message);
    all_.push_back(message);
  }
  void add(const std::vector<std::string>& messages) {
    for (const std::string& message : messages) add(message);
  }
  const std::vector<std::string>& all() const { return all_; }

 private:
  bool quiet_;
  std::vector<std::string> all_;
};

}  // namespace ockham::app
