// Private to linalg/: eight doubles at once, whatever the processor has for them.
#pragma once

#include <cstdint>

// One version for each vector width, chosen when the library is loaded. Sanitisers do not bear the resolver.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define OCKHAM_EACH_VECTOR_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define OCKHAM_EACH_VECTOR_WIDTH
#endif

namespace ockham {

constexpr int kLanes = 8;
typedef double Doubles __attribute__((vector_size(kLanes * sizeof(double))));
typedef uint64_t Integers __attribute__((vector_size(kLanes * sizeof(uint64_t))));

// A double's parts.
constexpr uint64_t kMantissaBits = 52, kExponentBias = 1023;
constexpr uint64_t kMantissaMask = (uint64_t{1} << kMantissaBits) - 1;
constexpr uint64_t kBitsOfOne = kExponentBias << kMantissaBits;
constexpr uint64_t kSmallestNormal = uint64_t{1} << kMantissaBits, kInfinity = uint64_t{2047} << kMantissaBits;

}  // namespace ockham
