#include "ockham/base/random.h"

#include <ATen/CPUGeneratorImpl.h>

namespace ockham {
namespace {

/// The finaliser of splitmix64: a bijection of 64 bits in which every input bit moves every output bit.
uint64_t scramble(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

}  // namespace

uint64_t stream_seed(std::initializer_list<uint64_t> key) {
  constexpr uint64_t golden_gamma = 0x9e3779b97f4a7c15ULL;
  // The length takes part, so that {1} and {1, 0} differ; the running state makes the order count.
  uint64_t state = scramble(key.size() + golden_gamma);
  for (uint64_t part : key) state = scramble(state + golden_gamma + scramble(part + golden_gamma));
  return state;
}

at::Generator random_stream(std::initializer_list<uint64_t> key) {
  return at::detail::createCPUGenerator(stream_seed(key));
}

}  // namespace ockham
