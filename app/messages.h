// Messages for the user: on stderr at once, and in the JSON at the end.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "app/say.h"
#include "ockham/base/printable.h"

namespace ockham::app {

class Messages {
 public:
  explicit Messages(bool quiet) : quiet_(quiet) {}
  /// Keeps messages back until `release`: what ends in an error says that error and nothing else.
  void hold() { held_ = true; }
  void release() {
    held_ = false;
    for (const std::string& message : all_) print(message);
  }
  void add(const std::string& message) {
    if (!held_) print(message);
    all_.push_back(message);
  }
  void add(const std::vector<std::string>& messages) {
    for (const std::string& message : messages) add(message);
  }
  /// What was said when the run began, in place of what there is to say of its settings now that all are known.
  void recall(std::vector<std::string> messages) { all_ = std::move(messages); }
  const std::vector<std::string>& all() const { return all_; }

 private:
  void print(const std::string& message) const {
    if (!quiet_) say(fmt::format("{}\n", printable(message)));
  }

  bool quiet_, held_ = false;
  std::vector<std::string> all_;
};

}  // namespace ockham::app
