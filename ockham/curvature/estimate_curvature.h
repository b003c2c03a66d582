// One pass over the data: the curvature of the likelihood at the network's parameters, the data fit, and the gradient.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ockham/base/part_of.h"
#include "ockham/curvature/curvature.h"
#include "ockham/data/dataset.h"
#include "ockham/network/network.h"
#include "ockham/observe/observe_forward.h"
#include "ockham/probability/data_fit.h"
#include "ockham/probability/likelihood.h"

namespace ockham {

/// How positions of a convolution (or of a linear layer on [N, ..., D]) enter the Kronecker factors;
/// docs/mathematics.md.
enum class KroneckerRule { expand, reduce, paper };

struct CurvatureOptions {
  Structure structure = Structure::kronecker;
  CurvatureKind kind = CurvatureKind::ggn;
  KroneckerRule kronecker_rule = KroneckerRule::expand;
  int64_t mc_samples = 1;
  /// Kronecker and diagonal GGN: columns of the output curvature Λ are folded into one with random signs (of `seed`) as
  /// long as Σ_n Λ_n has a root mean square error (Frobenius norm) of at most this times its trace. 0: exact.
  double ggn_tolerance = 0;
  uint64_t seed = 0;  // of the Monte-Carlo Fisher and of the signs
  int64_t batch_size = 128;
  int64_t memory_budget = 0;         // bytes; 0: default_memory_budget()
  bool root_derivatives = false;     // derivatives for temperature or σ per output: doubles the backward passes
  bool likelihood_gradient = false;  // also ∇_θ log p(D | θ), for the correction term
  /// Parameter groups of the block structure; empty: one block per parameter tensor.
  std::vector<std::vector<size_t>> blocks;
  /// Parameters without a Kronecker form (norms, scales) are exact blocks up to this many weights, diagonal above it.
  int64_t largest_exact_block = 1024;
  /// Full structure: choose between P × P and NC × NC by size; tests force one.
  enum class DenseForm { automatic, matrix, rows } dense_form = DenseForm::automatic;
  /// Only this part of the examples is passed, in their order. Everything else (form of the blocks, verification, the
  /// 1/N of a factor) is that of the whole data set, so that matrices, factors and diagonals of the parts add up, and
  /// rows follow each other (evidence/shared_curvature.h). Not together with what draws at random over the whole pass:
  /// `splits` says so.
  Part part;
  ObserveOptions observe;
  /// Checks the recognised layer calls against autograd on a few examples before the pass; a training loop may do it
  /// once.
  bool verify = true;
  std::function<void(int64_t examples_done)> progress;  // may throw to interrupt
};

/// Throws Error(usage), as the pass over the data would, when its curvature does not fit the memory budget; observes a
/// few examples only.
void expect_curvature_fits(const Network& network, const Likelihood& likelihood, const Dataset& data,
                           const CurvatureOptions& options);

/// Whether a pass can be made in parts: not with the Monte-Carlo Fisher and folded columns, whose draws follow each
/// other.
bool splits(const CurvatureOptions& options);

struct CurvatureEstimate {
  Curvature curvature;
  DataFit data_fit;
  at::Tensor gradient;  // ∇_θ of -log p(D | θ) at unit noise [P], float64; undefined unless asked for
  std::vector<at::Tensor> gradient_derivatives;  // M of [P], likewise
  std::vector<std::string> messages;             // what was done for parameters outside the structure, by name
  int64_t outputs = 0;                           // C
};

CurvatureEstimate estimate_curvature(const Network& network, const Likelihood& likelihood, const Dataset& data,
                                     const Hyperparameters& hyperparameters, const CurvatureOptions& options);

}  // namespace ockham
