// Random streams keyed by what they are for, never by the order of execution.
#pragma once

#include <ATen/core/Generator.h>

#include <cstdint>
#include <initializer_list>

namespace ockham {

/// Mixes the parts of a key, e.g. {seed, candidate, restart, epoch}, into one 64-bit seed (splitmix64).
uint64_t stream_seed(std::initializer_list<uint64_t> key);

/// A CPU generator of its own for that key.
at::Generator random_stream(std::initializer_list<uint64_t> key);

}  // namespace ockham
