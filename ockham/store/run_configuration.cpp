#include "ockham/store/run_configuration.h"

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <vector>

namespace ockham {
namespace {

constexpr size_t spelt_out = 3;

std::string show(const RunConfiguration& configuration, const std::string& name) {
  const auto found = configuration.find(name);
  if (found == configuration.end()) return "not given";
  const std::string& value = found->second;
  return value.size() > 60 ? fmt::format("'{}...'", value.substr(0, 57)) : fmt::format("'{}'", value);
}

}  // namespace

std::string fingerprint(const RunConfiguration& configuration) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const auto mix = [&](const std::string& text) {
    // The length keeps {"ab": "c"} and {"a": "bc"} apart.
    for (const char byte : fmt::format("{}:{}", text.size(), text)) {
      hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    }
  };
  for (const auto& [name, value] : configuration) {
    mix(name);
    mix(value);
  }
  return fmt::format("{:016x}", hash);
}

std::string describe_differences(const RunConfiguration& before, const RunConfiguration& now) {
  std::set<std::string> names;
  for (const auto& entry : before) names.insert(entry.first);
  for (const auto& entry : now) names.insert(entry.first);
  std::vector<std::string> differences;
  for (const std::string& name : names) {
    const auto old = before.find(name);
    const auto young = now.find(name);
    if (old != before.end() && young != now.end() && old->second == young->second) continue;
    differences.push_back(fmt::format("{} was {} and is now {}", name, show(before, name), show(now, name)));
  }
  std::string text;
  for (size_t i = 0; i < differences.size() && i < spelt_out; ++i) text += (i > 0 ? ", " : "") + differences[i];
  if (differences.size() > spelt_out) text += fmt::format(", and {} more", differences.size() - spelt_out);
  return text;
}

}  // namespace ockham
