#include "app/counted.h"

#include <gtest/gtest.h>

namespace ockham::app {
namespace {

TEST(Counted, OneAndMany) {
  EXPECT_EQ(counted(1, "batch"), "1 batch");
  EXPECT_EQ(counted(3, "batch"), "3 batches");
  EXPECT_EQ(counted(0, "class"), "0 classes");
  EXPECT_EQ(counted(2, "epoch"), "2 epochs");
  EXPECT_EQ(counted(1, "feature"), "1 feature");
}

}  // namespace
}  // namespace ockham::app
