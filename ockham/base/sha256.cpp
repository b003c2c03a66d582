#include "ockham/base/sha256.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace ockham {
namespace {

using Words = std::array<uint32_t, 8>;

// The first 32 bits of the fractional parts of the square roots of the first 8 primes,
constexpr Words start = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
// and of the cube roots of the first 64.
constexpr std::array<uint32_t, 64> constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr size_t block_size = 64;

uint32_t rotate(uint32_t word, int by) { return word >> by | word << (32 - by); }

void mix(Words& state, const unsigned char* block) {
  std::array<uint32_t, 64> schedule;
  for (size_t t = 0; t < 16; ++t, block += 4) {
    schedule[t] = uint32_t{block[0]} << 24 | uint32_t{block[1]} << 16 | uint32_t{block[2]} << 8 | block[3];
  }
  for (size_t t = 16; t < 64; ++t) {
    const uint32_t early = schedule[t - 15], late = schedule[t - 2];
    schedule[t] = schedule[t - 16] + (rotate(early, 7) ^ rotate(early, 18) ^ early >> 3) + schedule[t - 7] +
                  (rotate(late, 17) ^ rotate(late, 19) ^ late >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t t = 0; t < 64; ++t) {
    const uint32_t choice = (e & f) ^ (~e & g), majority = (a & b) ^ (a & c) ^ (b & c);
    const uint32_t first = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + constants[t] + schedule[t];
    const uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  const Words change = {a, b, c, d, e, f, g, h};
  for (size_t k = 0; k < state.size(); ++k) state[k] += change[k];
}

}  // namespace

std::string sha256(std::string_view bytes) {
  Words state = start;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const size_t whole = bytes.size() / block_size * block_size;
  for (size_t at = 0; at < whole; at += block_size) mix(state, data + at);

  // The rest, a one bit, zeros, and the length in bits.
  std::string rest(bytes.substr(whole));
  rest += '\x80';
  while (rest.size() % block_size != block_size - 8) rest += '\0';
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) rest += static_cast<char>(bits >> shift & 0xff);
  for (size_t at = 0; at < rest.size(); at += block_size) {
    mix(state, reinterpret_cast<const unsigned char*>(rest.data()) + at);
  }

  std::string text;
  for (const uint32_t word : state) text += fmt::format("{:08x}", word);
  return text;
}

}  // namespace ockham
