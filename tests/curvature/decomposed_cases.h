// Hand-made curvatures of every kind, with root derivatives, and the dense H that they stand for.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "ockham/base/random.h"
#include "ockham/curvature/decomposed.h"
#include "tests/support/finite_differences.h"

namespace ockham::testing {

struct CurvatureCase {
  std::string name;
  ParameterLayout layout;
  Curvature curvature;
  int64_t roots = 0;

  std::vector<int64_t> sizes() const {
    std::vector<int64_t> result;
    for (const auto& slot : layout.slots()) result.push_back(slot.size);
    return result;
  }
  at::Tensor matrix() const { return dense(curvature, sizes()); }
  /// ∂B/∂η_m as one matrix.
  at::Tensor matrix_derivative(size_t m) const {
    Curvature moved;
    for (CurvatureBlock block : curvature.blocks) {
      if (auto* rows = std::get_if<DenseBlock>(&block); rows && rows->rows.defined()) {
        const at::Tensor half = rows->rows.t().mm(rows->row_derivatives[m]);
        rows->rows = at::Tensor();
        rows->matrix = half + half.t();
      } else if (rows) {
        rows->matrix = rows->matrix_derivatives[m];
      } else if (auto* kronecker = std::get_if<KroneckerBlock>(&block)) {
        (kronecker->gradient_left ? kronecker->left : kronecker->right) = kronecker->derivatives[m];
      } else {
        std::get<DiagonalBlock>(block).diagonal = std::get<DiagonalBlock>(block).derivatives[m];
      }
      moved.blocks.push_back(block);
    }
    return dense(moved, sizes());
  }
};

class CaseMaker {
 public:
  CaseMaker(uint64_t seed, int64_t roots) : generator_(random_stream({seed})), roots_(roots) {}

  at::Tensor normal(std::vector<int64_t> shape) { return at::randn(shape, generator_, at::kDouble); }

  /// A Gram matrix [d, d] and its derivatives when the rows move as Φ(t) = Φ(I·(-1) + A) dt.
  at::Tensor gram(int64_t rows, int64_t d, std::vector<at::Tensor>& derivatives) {
    const at::Tensor phi = normal({rows, d});
    for (int64_t m = 0; m < roots_; ++m) {
      const at::Tensor moved = (0.3 * normal({rows, rows})).mm(phi) - phi;
      const at::Tensor half = phi.t().mm(moved);
      derivatives.push_back(half + half.t());
    }
    return phi.t().mm(phi);
  }
  at::Tensor positive(int64_t d, std::vector<at::Tensor>& derivatives) {
    const at::Tensor values = normal({d}).square();
    for (int64_t m = 0; m < roots_; ++m) derivatives.push_back(values * (0.4 * normal({d}) - 2));
    return values;
  }

  DenseBlock matrix_block(std::vector<size_t> parameters, int64_t p) {
    DenseBlock block;
    block.parameters = std::move(parameters);
    block.matrix = gram(2 * p, p, block.matrix_derivatives);
    return block;
  }
  DenseBlock row_block(std::vector<size_t> parameters, int64_t m, int64_t p) {
    DenseBlock block;
    block.parameters = std::move(parameters);
    block.rows = normal({m, p});
    for (int64_t k = 0; k < roots_; ++k) block.row_derivatives.push_back(0.5 * normal({m, p}) - block.rows);
    return block;
  }
  DiagonalBlock diagonal_block(std::vector<size_t> parameters, int64_t p) {
    DiagonalBlock block;
    block.parameters = std::move(parameters);
    block.diagonal = positive(p, block.derivatives);
    return block;
  }
  /// G pairs of factors; `diagonal_other` makes the factor that is not from gradients diagonal, as for an embedding.
  KroneckerBlock kronecker_block(size_t parameter, int64_t groups, int64_t d0, int64_t d1, bool gradient_left,
                                 bool diagonal_other = false) {
    KroneckerBlock block;
    block.parameter = parameter;
    block.gradient_left = gradient_left;
    std::vector<std::vector<at::Tensor>> derivatives(static_cast<size_t>(roots_));
    std::vector<at::Tensor> gradients, others;
    for (int64_t g = 0; g < groups; ++g) {
      std::vector<at::Tensor> moved, unused;
      const int64_t inner = gradient_left ? d0 : d1, outer = gradient_left ? d1 : d0;
      gradients.push_back(gram(inner + 3, inner, moved));
      const at::Tensor rows = normal({outer + 2, outer});
      others.push_back(diagonal_other ? normal({outer}).square() : rows.t().mm(rows) / 4);
      for (size_t m = 0; m < moved.size(); ++m) derivatives[m].push_back(moved[m]);
    }
    block.left = at::stack(gradient_left ? gradients : others);
    block.right = at::stack(gradient_left ? others : gradients);
    for (const auto& by_group : derivatives) block.derivatives.push_back(at::stack(by_group));
    return block;
  }

 private:
  at::Generator generator_;
  int64_t roots_;
};

inline ParameterLayout small_layout() {
  return ParameterLayout({{"first.weight", {4, 3}}, {"first.bias", {4}}, {"second.weight", {2, 5}}, {"norm", {3}}});
}  // 12 + 4 + 10 + 3 = 29 weights

inline std::vector<CurvatureCase> all_cases(int64_t roots) {
  const ParameterLayout layout = small_layout();
  std::vector<CurvatureCase> cases;
  CaseMaker make(5, roots);
  const auto add = [&](const std::string& name, std::vector<CurvatureBlock> blocks) {
    cases.push_back({name, layout, {std::move(blocks)}, roots});
  };
  add("full matrix", {make.matrix_block({0, 1, 2, 3}, 29)});
  add("full rows", {make.row_block({0, 1, 2, 3}, 11, 29)});
  add("more rows than weights", {make.row_block({0, 1, 2, 3}, 40, 29)});
  // Out of order and with a gap, so that gathering is put to the test.
  add("blocks", {make.matrix_block({3, 1}, 7), make.row_block({0}, 5, 12), make.matrix_block({2}, 10)});
  add("diagonal", {make.diagonal_block({0, 1, 2}, 26), make.diagonal_block({3}, 3)});
  KroneckerBlock first = make.kronecker_block(0, 1, 4, 3, true);
  DenseBlock bias;  // shares the output factor
  bias.parameters = {1};
  bias.matrix = first.left[0];
  bias.factor = 2.5;
  for (const auto& derivative : first.derivatives) bias.matrix_derivatives.push_back(derivative[0]);
  add("kronecker", {first, bias, make.kronecker_block(2, 1, 2, 5, false), make.diagonal_block({3}, 3)});
  add("kronecker grouped and diagonal", {make.kronecker_block(0, 2, 2, 3, true), make.matrix_block({1}, 4),
                                         make.kronecker_block(2, 1, 2, 5, false, true), make.matrix_block({3}, 3)});
  return cases;
}

struct PriorCase {
  std::string name;
  Prior prior;
  at::Tensor log_precision;
};

/// `separable` leaves out the prior with a precision of its own for every weight.
inline std::vector<PriorCase> all_priors(const ParameterLayout& layout, bool separable) {
  std::vector<PriorCase> priors = {{"scalar", Prior::scalar(layout), {}},
                                   {"layerwise", Prior::layerwise(layout), {}},
                                   {"ard", Prior::ard(layout), {}}};
  if (!separable) priors.push_back({"diagonal", Prior::diagonal(layout), {}});
  for (auto& prior : priors) {
    prior.log_precision = 0.7 * at::randn({prior.prior.size()}, random_stream({11}), at::kDouble) - 0.2;
  }
  return priors;
}

inline bool has_kronecker(const CurvatureCase& one) { return one.name.find("kronecker") == 0; }

/// H = s·B + P_δ by its definition.
inline at::Tensor dense_precision(const CurvatureCase& one, const Prior& prior, const PrecisionPoint& point) {
  return point.scale * one.matrix() + at::diag(prior.expand(point.log_prior_precision).exp());
}

/// H⁻¹ as the decomposition has it: the covariance of P outputs with the identity as their Jacobian.
inline at::Tensor inverse_of(const DecomposedCurvature& decomposed, const PrecisionPoint& point) {
  const at::Tensor identity = at::eye(decomposed.prior().layout().total(), at::kDouble);
  return decomposed.output_covariance(point, identity.unsqueeze(0))[0];
}

inline double log_determinant_of(const at::Tensor& matrix) {
  return std::get<1>(at::linalg_slogdet(matrix)).item<double>();
}

}  // namespace ockham::testing
