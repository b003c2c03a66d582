#include "ockham/base/nearest_word.h"

#include <gtest/gtest.h>

namespace ockham {
namespace {

TEST(NearestWord, FindsSlipsAndNothingElse) {
  const std::vector<std::string> known = {"--structure", "--curvature", "--prior", "--prior-precision", "--noise"};
  EXPECT_EQ(nearest_word("--structre", known), "--structure");
  EXPECT_EQ(nearest_word("--curvatuer", known), "--curvature");
  EXPECT_EQ(nearest_word("--niose", known), "--noise");
  EXPECT_EQ(nearest_word("--prio", known), "--prior");
  EXPECT_EQ(nearest_word("--prior-precison", known), "--prior-precision");
  EXPECT_EQ(nearest_word("--banana", known), "");
  EXPECT_EQ(nearest_word("x", {"full", "kron"}), "");
}

TEST(NearestWord, OneSlipOfEachKindIsNear) {
  for (const char* slip : {"kon", "kronn", "krun", "krno", "kron"}) EXPECT_EQ(nearest_word(slip, {"kron"}), "kron");
  for (const char* other : {"", "k", "norkk", "diag"}) EXPECT_EQ(nearest_word(other, {"kron"}), "") << other;
}

TEST(NearestWord, AWordCutShortOrWithATailIsNear) {
  EXPECT_EQ(nearest_word("layer", {"scalar", "layerwise"}), "layerwise");
  EXPECT_EQ(nearest_word("diagonally", {"scalar", "diagonal"}), "diagonal");
  EXPECT_EQ(nearest_word("lay", {"layerwise"}), "");
}

TEST(NearestWord, NothingIsNearWhenNothingIsKnown) { EXPECT_EQ(nearest_word("kron", {}), ""); }

TEST(DidYouMean, EndsASentenceOrSaysNothing) {
  EXPECT_EQ(did_you_mean("krno", {"full", "kron"}), "; did you mean 'kron'?");
  EXPECT_EQ(did_you_mean("banana", {"full", "kron"}), "");
}

}  // namespace
}  // namespace ockham
