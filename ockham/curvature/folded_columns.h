// Fewer backward passes than Λ has rank, within a stated error: `ggn_tolerance`.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>

#include "ockham/probability/likelihood.h"

namespace ockham {

/// The GGN's root of the examples, its columns by weight ‖r_k‖², the heaviest first. A softmax's classes are split in
/// the order of their probabilities, which gathers the weight in the first columns.
OutputRoot root_by_weight(const Likelihood& likelihood, const at::Tensor& outputs,
                          const Hyperparameters& hyperparameters, bool derivatives);

/// ‖r_k‖² of every column: [N, K].
at::Tensor column_weights(const at::Tensor& root);

/// How many columns of each example go back as they are when the rest is folded into one, [N] int64; the fewest in all
/// for which the error of Σ_n Λ_n has a root mean square (Frobenius norm) of at most `tolerance` times its trace.
/// `weights` [N, K] fall along each row.
at::Tensor columns_to_keep(const at::Tensor& weights, double tolerance);

/// [N, C, min(K, kept + 1)]: the first `kept` columns, and Σ ±r_k of the others with random signs, whose product with
/// itself has Σ r_k r_kᵀ as its mean.
OutputRoot fold_columns(const OutputRoot& root, int64_t kept, at::Generator generator);

}  // namespace ockham
