// Fewer backward passes than Λ has rank, within a stated error: `ggn_tolerance`.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "ockham/probability/likelihood.h"

namespace ockham {

/// The GGN's root of the examples, its columns by weight ‖r_k‖², the heaviest first. A softmax's classes are split in
/// the order of their probabilities, which gathers the weight in the first columns.
OutputRoot root_by_weight(const Likelihood& likelihood, const at::Tensor& outputs,
                          const Hyperparameters& hyperparameters, bool derivatives);

/// ‖r_k‖² of every column: [N, K].
at::Tensor column_weights(const at::Tensor& root);

/// What folding the columns of each example into fewer costs, and how few are offered.
struct FoldingErrors {
  std::vector<int64_t> counts;  // columns that may be sent, rising; the last one is K
  at::Tensor mean_squares;      // [N, counts.size()]: of the error of Λ_n (Frobenius norm), 0 for K columns
  double trace = 0;             // Σ_n tr Λ_n
};

/// Of a root as `root_by_weight` makes it.
FoldingErrors folding_errors(const at::Tensor& root);

/// How many columns of each example to send, [N] int64: few in all, such that the error of Σ_n Λ_n has a root mean
/// square of at most `tolerance` times its trace.
at::Tensor columns_to_send(const FoldingErrors& errors, double tolerance);

/// [N, C, count]: the columns in `count` groups of about equal weight, each sent as Σ ±r_k with random signs, whose
/// product with itself has Σ r_k r_kᵀ as its mean.
OutputRoot fold_columns(const OutputRoot& root, int64_t count, at::Generator generator);

}  // namespace ockham
