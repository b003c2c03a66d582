// Durations for people.
#pragma once

#include <string>

namespace ockham::app {

/// "0.4 s", "12 s", "3 min 20 s", "2 h 5 min".
std::string duration(double seconds);

}  // namespace ockham::app
