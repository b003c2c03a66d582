// Expecting an ockham::Error of a kind whose sentence names the right things.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "ockham/base/error.h"

namespace ockham::testing {

inline void expect_error(ErrorKind kind, const std::vector<std::string>& mentioned,
                         const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "no error was thrown";
  } catch (const Error& error) {
    const std::string sentence = error.what();
    EXPECT_EQ(error.kind(), kind) << sentence;
    for (const auto& part : mentioned)
      EXPECT_NE(sentence.find(part), std::string::npos) << "'" << part << "' is not in: " << sentence;
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << "more than one line: " << sentence;
    EXPECT_EQ(sentence.find("frame #"), std::string::npos) << "a back-trace: " << sentence;
  }
}

}  // namespace ockham::testing
