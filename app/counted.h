// Nouns with their number, for people.
#pragma once

#include <cstdint>
#include <string>

namespace ockham::app {

/// "1 batch", "3 batches", "2 epochs".
inline std::string counted(int64_t number, const std::string& noun) {
  const bool hisses = noun.back() == 's' || (noun.size() > 3 && noun.substr(noun.size() - 3) == "tch");
  return std::to_string(number) + " " + noun + (number == 1 ? "" : hisses ? "es" : "s");
}

}  // namespace ockham::app
