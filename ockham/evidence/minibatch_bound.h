// A lower bound of the evidence from batches D_b of the data, each of which is as cheap as a small data set:
//   log|H| ≤ log|H_S| + Σ_b (log|H_b| - log|H_S|),  H_b = H_S + s B_b
// with the curvature B_b of batch b, for every partition of the data into batches and shared examples S (Fischer's
// inequality, given S). Without shared examples H_S = P_δ. In terms of evidences v, each of its examples alone,
//   bound = v_S + Σ_b (v_{S ∪ b} - v_S) ≤ log q(D | M),   v_∅ = -½ θᵀ P_δ θ.
// What shared examples determine already is not counted again by every batch: the bound is tighter.
// Curvature must be a sum over examples: full, block or diagonal, GGN or empirical Fisher.
#pragma once

#include <cstdint>
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
  /// `shared`: v_S at these hyperparameters, see `evidence` and `evidence_of_prior`.
  MinibatchBound(Evidence shared, const Hyperparameters& hyperparameters);

  /// `batch`: a fit of the batch's examples and the shared ones. `weight` 1 for each batch of a partition.
  void add(const LaplaceFit& batch, double weight = 1);
  const Evidence& evidence() const { return sum_; }

 private:
  Hyperparameters hyperparameters_;
  Evidence shared_, sum_;
};

/// The bound from the fits of all batches of a partition, of any sizes; `shared` is the fit of the shared examples,
/// null without such. One batch of all data: the evidence itself.
Evidence minibatch_bound(const std::vector<LaplaceFit>& batches, const Hyperparameters& hyperparameters,
                         const LaplaceFit* shared = nullptr);

/// An unbiased estimate of the bound from one batch drawn with equal probabilities: what it adds, times the number of
/// `batches` (not N/N_b, which is the same only where sizes are equal). It may exceed the evidence.
Evidence estimate_bound(const LaplaceFit& batch, int64_t batches, const Hyperparameters& hyperparameters,
                        const LaplaceFit* shared = nullptr);

/// Throws Error(usage) when `options` have no such bound (Kronecker, Monte-Carlo Fisher), or when a batch of that size
/// and its shared examples need more than the memory budget, naming a batch that fits. `inputs`: one example or more.
void check_batches(const Model& model, const at::Tensor& inputs, const PartitionSizes& sizes,
                   const LaplaceOptions& options);

/// Bytes that the fit of such a batch takes at most, in the full structure.
int64_t batch_bytes(const Model& model, const at::Tensor& inputs, int64_t examples, const LaplaceOptions& options);

/// Examples of a batch when nothing is said: as many as give a thousand rows, whose kernel matrix takes a tenth of a
/// second, at least 32. `columns` is K, see `root_columns`.
int64_t automatic_evidence_batch(int64_t columns);

struct PartitionBound {
  Evidence evidence;
  int64_t batches = 0, largest_batch = 0, shared = 0;
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
