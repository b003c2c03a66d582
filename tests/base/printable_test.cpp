#include "ockham/base/printable.h"

#include <gtest/gtest.h>

namespace ockham {
namespace {

TEST(Printable, LeavesTextAndTakesControl) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("Höhe × 3 '€'"), "Höhe × 3 '€'");
  EXPECT_EQ(printable("two\nlines\r\x1b[31mred\x07\x7f"), "two?lines??[31mred??");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a?b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J\xc2\xa0."),
            "?2J\xc2\xa0.");
  EXPECT_EQ(printable("\xc2"), "?");
  EXPECT_EQ(printable("\x9b"
                      "31m\xff\xe2\x82"),
            "?31m???");
}

}  // namespace
}  // namespace ockham
