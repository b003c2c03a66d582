#include "ockham/base/random.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <set>

namespace ockham {
namespace {

TEST(StreamSeed, DependsOnEveryPartAndOnTheOrder) {
  EXPECT_EQ(stream_seed({1, 2, 3}), stream_seed({1, 2, 3}));
  EXPECT_NE(stream_seed({1, 2, 3}), stream_seed({3, 2, 1}));
  EXPECT_NE(stream_seed({1}), stream_seed({1, 0}));
  EXPECT_NE(stream_seed({}), stream_seed({0}));
}

TEST(StreamSeed, NeighbouringKeysDoNotMeet) {
  std::set<uint64_t> seeds, low_words;
  for (uint64_t seed = 0; seed < 20; ++seed)
    for (uint64_t candidate = 0; candidate < 10; ++candidate)
      for (uint64_t epoch = 0; epoch < 20; ++epoch) {
        seeds.insert(stream_seed({seed, candidate, epoch}));
        low_words.insert(stream_seed({seed, candidate, epoch}) & 0xffffffffu);  // what libtorch's generator takes
      }
  EXPECT_EQ(seeds.size(), 4000u);
  EXPECT_GE(low_words.size(), 3998u);
}

TEST(RandomStream, IsKeyedAndIndependentOfOtherDraws) {
  at::Generator first = random_stream({7, 1});
  const at::Tensor a = at::randn({50}, first);
  at::randn({1000});  // the global generator, and a stream of its own, in between
  at::Generator other = random_stream({7, 2});
  const at::Tensor b = at::randn({50}, other);
  at::Generator again = random_stream({7, 1});
  EXPECT_TRUE(at::equal(a, at::randn({50}, again)));
  EXPECT_FALSE(at::equal(a, b));
}

}  // namespace
}  // namespace ockham
