// Words for the user on stderr.
#pragma once

#include <cstdio>
#include <string>

namespace ockham::app {

/// A stderr that takes nothing, such as a file on a full disk, does not end the work: what is computed counts more.
inline void say(const std::string& text) { std::fputs(text.c_str(), stderr); }

}  // namespace ockham::app
