#include "ockham/store/run_configuration.h"

#include <gtest/gtest.h>

namespace ockham {
namespace {

TEST(RunConfiguration, FingerprintsTellConfigurationsApart) {
  const RunConfiguration one = {{"epochs", "100"}, {"lr", "0.1"}};
  EXPECT_EQ(fingerprint(one), fingerprint({{"lr", "0.1"}, {"epochs", "100"}}));
  EXPECT_EQ(fingerprint(one).size(), 16U);
  EXPECT_EQ(fingerprint({}), "cbf29ce484222325");  // FNV-1a of nothing
  EXPECT_NE(fingerprint(one), fingerprint({{"epochs", "100"}, {"lr", "0.2"}}));
  EXPECT_NE(fingerprint({{"ab", "c"}}), fingerprint({{"a", "bc"}}));
  EXPECT_NE(fingerprint({{"a", ""}}), fingerprint({}));
}

TEST(RunConfiguration, SaysWhatDiffers) {
  const RunConfiguration before = {{"epochs", "100"}, {"seed", "0"}};
  EXPECT_EQ(describe_differences(before, before), "");
  EXPECT_EQ(describe_differences(before, {{"epochs", "200"}, {"seed", "0"}}), "epochs was '100' and is now '200'");
  EXPECT_EQ(describe_differences(before, {{"epochs", "100"}, {"lr", "0.1"}}),
            "lr was not given and is now '0.1', seed was '0' and is now not given");
  EXPECT_EQ(
      describe_differences({}, {{"a", "1"}, {"b", "1"}, {"c", "1"}, {"d", "1"}, {"e", "1"}}),
      "a was not given and is now '1', b was not given and is now '1', c was not given and is now '1', and 2 more");
  EXPECT_EQ(describe_differences({{"a", std::string(100, 'x')}}, {}),
            "a was '" + std::string(57, 'x') + "...' and is now not given");
}

}  // namespace
}  // namespace ockham
