// Products with the curvature of the likelihood, B v = Σ_n J_nᵀ Λ_n J_n v, for P so large that B itself has no room:
// one pass over the data for several vectors together.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "ockham/base/part_of.h"
#include "ockham/curvature/batch_jacobian.h"
#include "ockham/data/dataset.h"
#include "ockham/network/network.h"
#include "ockham/probability/likelihood.h"

namespace ockham {

class CurvatureProducts {
 public:
  struct Options {
    CurvatureKind kind = CurvatureKind::ggn;      // or the empirical Fisher, whose Λ is r rᵀ of a residual r
    int64_t batch_size = 0;                       // 0: by the size of the layers' outputs
    std::optional<TangentMode> tangents;          // absent: the first that works; see choose_tangent_mode
    std::function<void(int64_t batch)> progress;  // after each batch, counted from 1; may throw to interrupt
    /// Of several processes, each passes its part of the examples, and `total` makes the sum over all of them.
    Part part;
    std::function<void(at::Tensor& sums)> total;
  };

  /// Throws Error(usage) for the Monte-Carlo Fisher, whose samples would differ from pass to
  /// pass.
  CurvatureProducts(const Network& network, const Likelihood& likelihood, const Dataset& data,
                    const Hyperparameters& hyperparameters, Options options);

  int64_t batches() const;  // of one pass
  /// B x for every row x of [S, P] float64, at unit noise and without a likelihood weight; passed in the network's
  /// type, summed in float64.
  at::Tensor multiply(const at::Tensor& rows) const;
  /// xᵀ (∂B/∂η_m) y for rows x and y of [S, P], for the M root hyperparameters: [S, M].
  at::Tensor root_forms(const at::Tensor& left, const at::Tensor& right) const;

 private:
  /// Calls work(jacobian, root) for batch after batch.
  void for_each_batch(bool derivatives, const std::function<void(const BatchJacobian&, const OutputRoot&)>& work) const;
  /// J x [S, N, C] for every row x of [S, P] in the network's type.
  static at::Tensor push_forward(const BatchJacobian& batch, const at::Tensor& rows);

  Network network_;
  Likelihood likelihood_;
  Dataset data_;
  Hyperparameters hyperparameters_;
  Options options_;
  Range passed_;  // examples
  at::Tensor targets_;
  TangentMode mode_;
  int64_t batch_size_;
};

}  // namespace ockham
