// What an XML reader asks of a figure or a page.
#pragma once

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

namespace ockham::testing {

/// Elements nest, attributes are quoted, entities are known, and nothing is left unescaped. Returns what follows the
/// last element.
inline std::string expect_well_formed(const std::string& text) {
  const std::regex tag("<(/?)([A-Za-z0-9]+)((?:\\s+[A-Za-z:-]+=\"[^\"<]*\")*)\\s*(/?)>");
  std::vector<std::string> open;
  size_t end = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), tag), none; it != none; ++it) {
    const std::string between = text.substr(end, static_cast<size_t>(it->position()) - end);
    EXPECT_EQ(between.find_first_of("<>"), std::string::npos) << between;
    end = static_cast<size_t>(it->position() + it->length());
    if ((*it)[1].length() > 0) {
      EXPECT_FALSE(open.empty());
      if (open.empty()) return text.substr(end);
      EXPECT_EQ(open.back(), (*it)[2].str());
      open.pop_back();
    } else if ((*it)[4].length() == 0) {
      open.push_back((*it)[2].str());
    }
  }
  EXPECT_TRUE(open.empty());
  const std::string rest = std::regex_replace(text, std::regex("&(amp|lt|gt|quot|#39);"), "");
  EXPECT_EQ(rest.find('&'), std::string::npos);
  return text.substr(end);
}

}  // namespace ockham::testing
