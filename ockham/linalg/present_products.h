// Private to linalg/: sums over the examples in which something is not zero. A ReLU leaves half of the gradients, so
// that a product of two of them is there in a quarter of the examples.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace ockham {

constexpr int64_t kExamplesOfPiece = 128;  // what is summed at once: its rows of rights stay in the first-level cache

/// Lefts by columns, and the examples in which each is not zero.
template <class Scalar>
class PresentLefts {
 public:
  explicit PresentLefts(const at::Tensor& left);  // [n, k, o]
  int64_t pieces() const { return examples_ / kExamplesOfPiece; }
  double share() const { return share_; }  // of examples and lefts that are not zero

  /// sum[q] += Σ_n (Σ_k l_nki l'_nkj) rights_n over the examples of a piece, l' of `other`; rights [n, q] are the
  /// piece's rows, q a multiple of 16.
  void add_products(int64_t i, const PresentLefts& other, int64_t j, int64_t piece, const Scalar* rights, int64_t q,
                    Scalar* sum) const;

 private:
  at::Tensor values_;              // [o, k, n], n filled up with zeros to whole pieces
  std::vector<uint64_t> present_;  // [o, n / 64]: bit n of left i is set where l_nki is not zero for some k
  const Scalar* first_;            // of values_
  int64_t columns_, examples_;     // k and n
  double share_;
};

}  // namespace ockham
