// The minibatch bound: below the evidence, equal to it for one batch, the mean of its estimates; by dense matrices.
#include "ockham/evidence/minibatch_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>

#include "ockham/data/partition.h"
#include "tests/evidence/small_problem.h"
#include "tests/support/dense_reference.h"
#include "tests/support/expect_error.h"
#include "tests/support/finite_differences.h"

namespace ockham {
namespace {

using testing::expect_error;
using testing::finite_difference_gradient;
using testing::relative_difference;
using testing::small_problems;
using testing::SmallProblem;
using Form = CurvatureOptions::DenseForm;

LaplaceOptions options_for(Structure structure = Structure::full, CurvatureKind kind = CurvatureKind::ggn,
                           Form form = Form::automatic) {
  LaplaceOptions options;
  options.curvature.structure = structure;
  options.curvature.kind = kind;
  options.curvature.dense_form = form;
  options.curvature.root_derivatives = true;
  options.curvature.verify = false;
  options.likelihood_weight = 1.3;
  return options;
}

const at::Tensor nobody = at::zeros({0}, at::kLong);

const at::Tensor shuffled = at::tensor({4, 0, 7, 2, 8, 1, 3, 6, 5}, at::kLong);

/// Of nine examples, of sizes 2, 3 and 4: a partition need not be equal.
Partition uneven_partition() { return {nobody, shuffled.split_with_sizes({2, 3, 4}), 0, nullptr}; }

/// A first batch of two, which is the company of batches of two, four and one.
Partition sharing_partition() {
  const auto parts = shuffled.split_with_sizes({2, 2, 4, 1});
  return {parts[0], {parts.begin() + 1, parts.end()}, 2, [first = parts[0]](size_t) { return first; }};
}

/// A first batch of three, and batches of two with other companions each: two of `first`, one of it and one of the
/// batch before, two of the batch before.
Partition company_partition() {
  const auto parts = shuffled.split_with_sizes({3, 2, 2, 2});
  const std::vector<at::Tensor> companions = {parts[0].narrow(0, 1, 2), at::stack({parts[0][0], parts[1][1]}),
                                              parts[2]};
  return {parts[0], {parts.begin() + 1, parts.end()}, 2, [=](size_t b) { return companions.at(b); }};
}

std::vector<Partition> all_partitions() { return {uneven_partition(), sharing_partition(), company_partition()}; }

struct Fits {
  std::vector<BatchFit> batches;
  std::optional<LaplaceFit> first;

  const LaplaceFit* first_fit() const { return first ? &*first : nullptr; }
  Evidence bound(const Hyperparameters& at) const { return minibatch_bound(batches, at, first_fit()); }
};

Fits fit_batches(const Model& model, const Dataset& data, const Partition& partition, const LaplaceOptions& options) {
  const auto fit = [&](const at::Tensor& examples) { return fit_laplace(model, batch_of(data, examples), options); };
  Fits fits;
  if (partition.first.numel() > 0) fits.first = fit(partition.first);
  for (size_t b = 0; b < partition.batches.size(); ++b) {
    const at::Tensor companions = partition.companions_of(b);
    fits.batches.push_back({fit(at::cat({companions, partition.batches[b]})), {}});
    if (companions.numel() > 0) fits.batches.back().companions = fit(companions);
  }
  return fits;
}

Hyperparameters mean_gradient(const std::vector<Evidence>& some) {
  Hyperparameters sum = some.front().gradient.clone();
  const double count = static_cast<double>(some.size());
  for (size_t i = 1; i < some.size(); ++i) {
    sum.log_prior_precision += some[i].gradient.log_prior_precision;
    sum.log_noise += some[i].gradient.log_noise;
    sum.log_temperature += some[i].gradient.log_temperature;
  }
  return {sum.log_prior_precision / count, sum.log_noise / count, sum.log_temperature / count};
}

void expect_same(const Evidence& a, const Evidence& b, double tolerance) {
  EXPECT_LT(relative_difference(a.log_likelihood, b.log_likelihood), tolerance);
  EXPECT_LT(relative_difference(a.log_prior, b.log_prior), tolerance);
  EXPECT_LT(relative_difference(a.log_det, b.log_det), tolerance);
  EXPECT_LT(relative_difference(a.value, b.value), tolerance);
  EXPECT_LT(relative_difference(a.gradient.log_prior_precision, b.gradient.log_prior_precision), tolerance);
  EXPECT_LT(relative_difference(a.gradient.log_noise, b.gradient.log_noise), tolerance);
  EXPECT_LT(relative_difference(a.gradient.log_temperature, b.gradient.log_temperature), tolerance);
}

/// Every likelihood with three priors.
void for_each_case(const std::function<void(const Model&, const Dataset&)>& check) {
  for (const SmallProblem& problem : small_problems()) {
    const ParameterLayout& layout = problem.network.layout();
    for (const Prior& prior : {Prior::scalar(layout), Prior::layerwise(layout), Prior::diagonal(layout)}) {
      SCOPED_TRACE(problem.name + ", groups " + std::to_string(prior.size()));
      check({problem.network, problem.likelihood, prior, problem.at(prior)}, problem.data);
    }
  }
}

TEST(MinibatchBound, OneBatchOfAllDataIsTheEvidence) {
  for_each_case([](const Model& model, const Dataset& data) {
    for (const Form form : {Form::matrix, Form::rows}) {
      const LaplaceOptions options = options_for(Structure::full, CurvatureKind::ggn, form);
      const LaplaceFit whole = fit_laplace(model, data, options);
      const Evidence exact = evidence(whole, model.hyperparameters);
      expect_same(minibatch_bound({{whole, {}}}, model.hyperparameters), exact, 1e-11);
      expect_same(estimate_bound({whole, {}}, 1, model.hyperparameters), exact, 1e-11);
      const Partition partition = make_partition(data.inputs(), {data.size(), 0}, random_stream({2}));
      expect_same(bound_over_partition(model, data, partition, options).evidence, exact, 1e-10);
    }
  });
}

TEST(MinibatchBound, IsBelowTheEvidenceForEveryAdditiveCurvature) {
  for_each_case([](const Model& model, const Dataset& data) {
    for (const Structure structure : {Structure::full, Structure::block, Structure::diagonal}) {
      for (const CurvatureKind kind : {CurvatureKind::ggn, CurvatureKind::empirical_fisher}) {
        const LaplaceOptions options = options_for(structure, kind);
        const double exact = evidence(fit_laplace(model, data, options), model.hyperparameters).value;
        double before = exact;
        // Finer and finer: joining batches never lowers the bound.
        for (const int64_t largest : {5, 3, 1}) {
          std::vector<at::Tensor> batches = at::arange(data.size()).split(largest);
          if (largest == 3) batches = at::arange(9).split_with_sizes({3, 2, 2, 2});
          const double bound =
              fit_batches(model, data, {nobody, batches, 0, nullptr}, options).bound(model.hyperparameters).value;
          EXPECT_LT(bound, before + 1e-9);
          before = bound;
          if (largest == 5) continue;
          // A batch that is the company of all others bounds more tightly than one beside them.
          const Partition shared{
              batches[0], {batches.begin() + 1, batches.end()}, batches[0].numel(), [&](size_t) { return batches[0]; }};
          const double tighter = fit_batches(model, data, shared, options).bound(model.hyperparameters).value;
          EXPECT_LT(bound, tighter + 1e-9);
          EXPECT_LT(tighter, exact + 1e-9);
        }
      }
    }
  });
}

/// w log p - ½ log|I + P_δ^-½ s B P_δ^-½| - ½ θᵀ P_δ θ of some examples, by the eigenvalues of a symmetric matrix.
double dense_evidence(const Model& model, const Dataset& data, double weight) {
  const Hyperparameters& at = model.hyperparameters;
  const at::Tensor theta = model.network.flat_parameters();
  const at::Tensor delta = model.prior.expand(at.log_prior_precision).exp();
  const at::Tensor outputs = model.network.forward(data.inputs()).detach();
  const at::Tensor targets = prepare_targets(model.likelihood, data.targets(), outputs.size(1), outputs.scalar_type());
  const double scale = weight * curvature_scale(model.likelihood, CurvatureKind::ggn, at);
  const at::Tensor curvature = scale * testing::brute_force_curvature(model.network, data.inputs(), targets,
                                                                      model.likelihood, at, CurvatureKind::ggn);
  const at::Tensor root = delta.rsqrt();
  const at::Tensor values = at::linalg_eigvalsh(root.unsqueeze(1) * curvature * root);
  return weight * log_likelihood(model.likelihood, outputs, targets, at) - 0.5 * values.log1p().sum().item<double>() -
         0.5 * at::dot(delta, theta.square()).item<double>();
}

TEST(MinibatchBound, IsThatOfDenseMatrices) {
  for_each_case([](const Model& model, const Dataset& data) {
    const LaplaceOptions options = options_for();
    const at::Tensor delta = model.prior.expand(model.hyperparameters.log_prior_precision).exp();
    const double alone = -0.5 * at::dot(delta, model.network.flat_parameters().square()).item<double>();
    for (const Partition& partition : all_partitions()) {
      const auto value = [&](const at::Tensor& examples) {
        return examples.numel() == 0 ? alone
                                     : dense_evidence(model, batch_of(data, examples), options.likelihood_weight);
      };
      double expected = value(partition.first);
      for (size_t b = 0; b < 3; ++b)
        expected +=
            value(at::cat({partition.companions_of(b), partition.batches[b]})) - value(partition.companions_of(b));
      const PartitionBound bound = bound_over_partition(model, data, partition, options);
      EXPECT_LT(relative_difference(bound.evidence.value, expected), 1e-9);
      EXPECT_LT(relative_difference(fit_batches(model, data, partition, options).bound(model.hyperparameters).value,
                                    expected),
                1e-9);
      EXPECT_EQ(bound.batches, partition.first.numel() > 0 ? 4 : 3);
      EXPECT_EQ(bound.shared, partition.shared);
      EXPECT_EQ(bound.largest_batch, partition.first.numel() == 3 ? 4 : partition.shared + 4);
      const double weights = static_cast<double>(delta.numel());
      EXPECT_NEAR(bound.evidence.value,
                  bound.evidence.log_likelihood + bound.evidence.log_prior + 0.5 * weights * std::log(2 * M_PI) -
                      0.5 * bound.evidence.log_det,
                  1e-9);
    }
  });
}

TEST(MinibatchBound, IsTheMeanOfItsEstimatesAlsoOfUnequalBatches) {
  for_each_case([](const Model& model, const Dataset& data) {
    for (const Partition& partition : all_partitions()) {
      const Fits fits = fit_batches(model, data, partition, options_for());
      const Evidence bound = fits.bound(model.hyperparameters);
      std::vector<Evidence> estimates;
      double mean = 0;
      for (const BatchFit& fit : fits.batches) {
        estimates.push_back(estimate_bound(fit, 3, model.hyperparameters, fits.first_fit()));
        mean += estimates.back().value / 3;
      }
      EXPECT_LT(relative_difference(mean, bound.value), 1e-11);
      const Hyperparameters gradient = mean_gradient(estimates);
      EXPECT_LT(relative_difference(gradient.log_prior_precision, bound.gradient.log_prior_precision), 1e-10);
      EXPECT_LT(relative_difference(gradient.log_noise, bound.gradient.log_noise), 1e-10);
      EXPECT_LT(relative_difference(gradient.log_temperature, bound.gradient.log_temperature), 1e-10);
    }
  });
}

// Over random partitions into batches of unequal size: an estimate from the first batch has the mean of the bounds.
TEST(MinibatchBound, AnEstimateHasTheMeanOfTheBoundsOverPartitions) {
  const SmallProblem problem = small_problems().front();
  const Prior prior = Prior::layerwise(problem.network.layout());
  const Model model{problem.network, problem.likelihood, prior, problem.at(prior)};
  const Batch first = problem.data.slice(0, 7);
  const Dataset data(first.inputs, first.targets);
  const LaplaceOptions options = options_for();
  std::map<std::vector<int64_t>, Evidence> known;  // of a batch, times two
  const auto estimate = [&](const at::Tensor& batch) {
    const at::Tensor sorted = std::get<0>(batch.sort()).contiguous();
    const std::vector<int64_t> key(sorted.data_ptr<int64_t>(), sorted.data_ptr<int64_t>() + sorted.numel());
    const auto found = known.find(key);
    if (found != known.end()) return found->second.value;
    const LaplaceFit fit = fit_laplace(model, batch_of(data, sorted), options);
    return known.emplace(key, estimate_bound({fit, {}}, 2, model.hyperparameters)).first->second.value;
  };
  double difference = 0, squares = 0, exact = evidence(fit_laplace(model, data, options), model.hyperparameters).value;
  constexpr int count = 2000;
  bool exceeds = false;
  for (uint64_t key = 0; key < count; ++key) {
    const auto partition = make_partition(data.inputs(), {4, 0}, random_stream({key, 11})).batches;
    ASSERT_EQ(partition.size(), 2u);
    const auto chosen = static_cast<size_t>(key % 2);
    const double one = estimate(partition[chosen]), bound = (estimate(partition[0]) + estimate(partition[1])) / 2;
    EXPECT_LE(bound, exact + 1e-9);
    exceeds = exceeds || one > exact;
    difference += (one - bound) / count;
    squares += (one - bound) * (one - bound) / count;
  }
  EXPECT_LT(std::abs(difference), 4 * std::sqrt(squares / count));
  EXPECT_TRUE(exceeds) << "a single batch may exceed the evidence";
}

TEST(MinibatchBound, GradientAgainstFiniteDifferences) {
  for_each_case([](const Model& model, const Dataset& data) {
    for (const Form form : {Form::matrix, Form::rows}) {
      const LaplaceOptions options = options_for(Structure::full, CurvatureKind::ggn, form);
      const Partition partition = form == Form::matrix ? uneven_partition() : company_partition();
      const Evidence found = bound_over_partition(model, data, partition, options).evidence;
      const auto numeric = [&](at::Tensor Hyperparameters::*which) {
        return finite_difference_gradient(
            [&](const at::Tensor& value) {
              Model moved = model;
              moved.hyperparameters = model.hyperparameters.clone();
              moved.hyperparameters.*which = value;
              return bound_over_partition(moved, data, partition, options).evidence.value;
            },
            model.hyperparameters.*which);
      };
      if (model.prior.kind() != PriorKind::diagonal) {
        const at::Tensor slopes = numeric(&Hyperparameters::log_prior_precision);
        EXPECT_LT(relative_difference(found.gradient.log_prior_precision, slopes), 1e-7);
      }
      EXPECT_LT(relative_difference(found.gradient.log_noise, numeric(&Hyperparameters::log_noise)), 1e-7);
      EXPECT_LT(relative_difference(found.gradient.log_temperature, numeric(&Hyperparameters::log_temperature)), 1e-7);
    }
  });
}

TEST(MinibatchBound, RefusesWhatHasNoBound) {
  const SmallProblem problem = small_problems().front();
  const Prior prior = Prior::layerwise(problem.network.layout());
  const Model model{problem.network, problem.likelihood, prior, problem.at(prior)};
  const auto bound = [&](LaplaceOptions options, const Partition& partition) {
    return [=, &problem] { bound_over_partition(model, problem.data, partition, options); };
  };
  expect_error(ErrorKind::usage, {"Kronecker", "full"}, bound(options_for(Structure::kronecker), uneven_partition()));
  expect_error(ErrorKind::usage, {"empirical Fisher"},
               bound(options_for(Structure::full, CurvatureKind::mc_fisher), uneven_partition()));
  expect_error(ErrorKind::usage, {"at least one"}, bound(options_for(), {nobody, {}, 0, nullptr}));
  expect_error(ErrorKind::usage, {"at least one"}, [&] { minibatch_bound({}, model.hyperparameters); });
}

TEST(MinibatchBound, MemoryIsPlannedAndTheBatchThatFitsIsNamed) {
  const SmallProblem problem = small_problems().front();
  const Prior prior = Prior::layerwise(problem.network.layout());
  const Model model{problem.network, problem.likelihood, prior, problem.at(prior)};
  LaplaceOptions options = options_for();
  options.curvature.memory_budget = batch_bytes(model, problem.data.inputs(), 3, options);
  bool passed = false;
  options.curvature.progress = [&](int64_t) { passed = true; };
  expect_error(ErrorKind::usage, {"4 examples", "26 weights", "3 examples fit", "--evidence-batch", "--memory"},
               [&] { bound_over_partition(model, problem.data, uneven_partition(), options); });
  EXPECT_FALSE(passed);
  const Partition thirds{nobody, at::arange(9).split(3), 0, nullptr};
  EXPECT_TRUE(std::isfinite(bound_over_partition(model, problem.data, thirds, options).evidence.value));
  EXPECT_TRUE(passed);
  // A training holds the first batch and the companions beside a batch.
  expect_error(ErrorKind::usage, {"4 examples", "one example fit"}, [&] {
    check_batches(model, problem.data.inputs(), {4, 2}, options);
  });
  options.curvature.memory_budget = 100;
  expect_error(ErrorKind::usage, {"not even one example fits"},
               [&] { bound_over_partition(model, problem.data, thirds, options); });
}

}  // namespace
}  // namespace ockham
