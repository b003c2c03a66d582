// A lower bound of the evidence from batches D_b of the data, each of which is as cheap as a small data set:
//   log|H| ≤ log|H_F| + Σ_b (log|H_{C_b ∪ b}| - log|H_{C_b}|),  H_A = P_δ + s Σ_{n in A} B_n
// for every order of the batches, a first one F and any companions C_b out of batches before b (Fischer's inequality,
// given C_b). Without companions H_F = H_{C_b} = P_δ. In terms of evidences v, each of its examples alone,
//   bound = v_F + Σ_b (v_{C_b ∪ b} - v_{C_b}) ≤ log q(D | M),   v_∅ = -½ θᵀ P_δ θ.
// What its companions determine already is not counted again by a batch: the more they tell of it, the tighter the
// bound. Curvature must be a sum over examples: full, block or diagonal, GGN or empirical Fisher.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ockham/data/partition.h"
#include "ockham/evidence/evidence.h"

namespace ockham {

/// v_∅: the evidence of no data. `any` is any fit of these weights and this prior.
Evidence evidence_of_prior(const LaplaceFit& any, const Hyperparameters& hyperparameters);

/// Adds up what batches say at one point, the fit of one at a time. Its `Evidence` has the terms of an evidence, with
/// the bound of log|H| as `log_det`, and no correction.
class MinibatchBound {
 public:
  /// `first`: v_F at these hyperparameters, see `evidence` and `evidence_of_prior`.
  MinibatchBound(Evidence first, const Hyperparameters& hyperparameters);

  /// `batch`: a fit of the batch's examples and its companions; `companions`: v_{C_b}. `weight` 1 for each batch of a
  /// partition.
  void add(const LaplaceFit& batch, const Evidence& companions, double weight = 1);
  const Evidence& evidence() const { return sum_; }

 private:
  Hyperparameters hyperparameters_;
  Evidence sum_;
};

/// Of a batch with its companions, and of the companions alone; without such the latter is empty.
struct BatchFit {
  LaplaceFit batch;
  std::optional<LaplaceFit> companions;
};

/// The bound from the fits of all batches of a partition, of any sizes; `first` is that of the first batch, null where
/// there is none. One batch of all data: the evidence itself.
Evidence minibatch_bound(const std::vector<BatchFit>& batches, const Hyperparameters& hyperparameters,
                         const LaplaceFit* first = nullptr);

/// An unbiased estimate of the bound from one batch drawn with equal probabilities: v_F, and what the batch adds times
/// the number of `batches` beside the first (not N/N_b, which is the same only where sizes are equal). It may exceed
/// the evidence.
Evidence estimate_bound(const BatchFit& batch, int64_t batches, const Hyperparameters& hyperparameters,
                        const LaplaceFit* first = nullptr);

/// Throws Error(usage) when `options` have no such bound (Kronecker, Monte-Carlo Fisher), or when a batch of that size
/// with its companions needs more than the memory budget, naming a batch that fits. `inputs`: one example or more.
void check_batches(const Model& model, const at::Tensor& inputs, const PartitionSizes& sizes,
                   const LaplaceOptions& options);

/// Bytes that the fit of such a batch takes at most, in the full structure.
int64_t batch_bytes(const Model& model, const at::Tensor& inputs, int64_t examples, const LaplaceOptions& options);

/// Examples of a batch when nothing is said: as many as give a thousand rows, whose kernel matrix takes a tenth of a
/// second, at least 32. `columns` is K, see `root_columns`.
int64_t automatic_evidence_batch(int64_t columns);

struct PartitionBound {
  Evidence evidence;
  int64_t batches = 0, largest_batch = 0, shared = 0;  // shared: companions of a batch
  int64_t clipped_eigenvalues = 0;
  std::vector<std::string> messages;
  double seconds_curvature = 0, seconds_decompose = 0;
};

/// One pass over the batches at the model's weights and hyperparameters, in the memory of one of them.
PartitionBound bound_over_partition(const Model& model, const Dataset& data, const Partition& partition,
                                    const LaplaceOptions& options);

/// Some examples as a data set of their own.
Dataset batch_of(const Dataset& data, const at::Tensor& examples);

}  // namespace ockham
