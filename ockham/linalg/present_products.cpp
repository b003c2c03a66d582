#include "ockham/linalg/present_products.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "ockham/linalg/vector_width.h"

namespace ockham {
namespace {

constexpr int64_t kBits = 64, kWords = kExamplesOfPiece / kBits;
constexpr int kVectors = 6;  // of a row of rights at once: sums that stay in registers

template <class Scalar>
struct Vector {
  static constexpr int64_t kSize = 64 / sizeof(Scalar);
  typedef Scalar type __attribute__((vector_size(64), aligned(alignof(Scalar))));
};

/// sum += Σ w_n rights_n over the set bits, for `vectors` vectors of columns. From zero, so that a large sum loses one
/// rounding for each piece only.
template <class Scalar, int vectors>
__attribute__((always_inline)) inline void add_columns(const uint64_t* bits, const Scalar* weights,
                                                       const Scalar* rights, int64_t q, Scalar* sum) {
  using Some = typename Vector<Scalar>::type;
  constexpr int64_t together = Vector<Scalar>::kSize;
  Some sums[vectors] = {};
  for (int64_t word = 0; word < kWords; ++word) {
    for (uint64_t left = bits[word]; left != 0; left &= left - 1) {
      const int64_t n = word * kBits + __builtin_ctzll(left);
      const Scalar weight = weights[n];
      const Scalar* row = rights + n * q;
      for (int v = 0; v < vectors; ++v) {
        Some value;
        std::memcpy(&value, row + v * together, sizeof(Some));
        sums[v] += weight * value;
      }
    }
  }
  for (int v = 0; v < vectors; ++v) {
    Some total;
    std::memcpy(&total, sum + v * together, sizeof(Some));
    total += sums[v];
    std::memcpy(sum + v * together, &total, sizeof(Some));
  }
}

/// As declared, of columns [k, n] of both lefts, whose rows are `stride` numbers apart.
template <class Scalar>
OCKHAM_EACH_VECTOR_WIDTH void add_piece(const uint64_t* bits, const Scalar* first, const Scalar* second,
                                        int64_t columns, int64_t stride, const Scalar* rights, int64_t q, Scalar* sum) {
  Scalar weights[kExamplesOfPiece];
  for (int64_t n = 0; n < kExamplesOfPiece; ++n) weights[n] = first[n] * second[n];
  for (int64_t k = 1; k < columns; ++k)
    for (int64_t n = 0; n < kExamplesOfPiece; ++n) weights[n] += first[k * stride + n] * second[k * stride + n];
  constexpr int64_t together = Vector<Scalar>::kSize;
  int64_t at = 0;
  for (; at + kVectors * together <= q; at += kVectors * together)
    add_columns<Scalar, kVectors>(bits, weights, rights + at, q, sum + at);
  for (; at + 3 * together <= q; at += 3 * together) add_columns<Scalar, 3>(bits, weights, rights + at, q, sum + at);
  for (; at < q; at += together) add_columns<Scalar, 1>(bits, weights, rights + at, q, sum + at);
}

}  // namespace

template <class Scalar>
PresentLefts<Scalar>::PresentLefts(const at::Tensor& left)
    : columns_(left.size(1)), examples_((left.size(0) + kExamplesOfPiece - 1) / kExamplesOfPiece * kExamplesOfPiece) {
  const int64_t lefts = left.size(2), words = examples_ / kBits;
  values_ = at::zeros({lefts, columns_, examples_}, left.options());
  present_.assign(static_cast<size_t>(lefts * words), 0);
  const at::Tensor rows = left.contiguous();
  const Scalar* from = rows.data_ptr<Scalar>();
  Scalar* const to = values_.data_ptr<Scalar>();
  for (int64_t n = 0; n < left.size(0); ++n)
    for (int64_t k = 0; k < columns_; ++k)
      for (int64_t i = 0; i < lefts; ++i, ++from) {
        to[(i * columns_ + k) * examples_ + n] = *from;
        present_[i * words + n / kBits] |= static_cast<uint64_t>(*from != 0) << (n % kBits);
      }
  first_ = to;
  int64_t there = 0;
  for (const uint64_t word : present_) there += __builtin_popcountll(word);
  share_ = static_cast<double>(there) / static_cast<double>(lefts * left.size(0));
}

template <class Scalar>
void PresentLefts<Scalar>::add_products(int64_t i, const PresentLefts& other, int64_t j, int64_t piece,
                                        const Scalar* rights, int64_t q, Scalar* sum) const {
  const uint64_t* bits = present_.data() + (i * pieces() + piece) * kWords;
  const uint64_t* others = other.present_.data() + (j * pieces() + piece) * kWords;
  uint64_t both[kWords], any = 0;
  for (int64_t word = 0; word < kWords; ++word) any |= both[word] = bits[word] & others[word];
  if (any == 0) return;
  const int64_t of_left = columns_ * examples_, start = piece * kExamplesOfPiece;
  add_piece(both, first_ + i * of_left + start, other.first_ + j * of_left + start, columns_, examples_, rights, q,
            sum);
}

template class PresentLefts<float>;
template class PresentLefts<double>;

}  // namespace ockham
