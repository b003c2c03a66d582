// The minibatch bound of random models: never above the evidence, and what dense matrices of the batches give.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ockham/base/random.h"
#include "ockham/data/partition.h"
#include "ockham/evidence/minibatch_bound.h"
#include "tests/properties/dense_evidence.h"
#include "tests/properties/find_failure.h"

namespace ockham::properties {
namespace {

LaplaceOptions options_of(Structure structure, CurvatureKind kind, const RandomCase& random) {
  LaplaceOptions options;
  options.likelihood_weight = std::exp(0.1 * random.likelihood_weight);
  options.curvature.structure = structure;
  options.curvature.kind = kind;
  options.curvature.batch_size = random.batch_size;
  options.curvature.root_derivatives = true;
  return options;
}

/// Drawn one by one: batches of any sizes, without companions or with any number out of those before.
Partition uneven_partition(int64_t examples, uint64_t seed, bool company) {
  const at::Tensor number = at::randint(0, 4, {examples}, random_stream({seed, 21}), at::TensorOptions(at::kLong));
  const at::Tensor none = at::zeros({0}, at::kLong);
  Partition partition{none, {}, 0, nullptr};
  for (int64_t b = 0; b < 4; ++b) {
    const at::Tensor chosen = (number == b).nonzero().flatten();
    if (chosen.numel() > 0) partition.batches.push_back(chosen);
  }
  if (!company || partition.batches.size() == 1) return partition;
  partition.first = partition.batches.front();
  partition.batches.erase(partition.batches.begin());
  std::vector<at::Tensor> companions;
  at::Tensor before = partition.first;
  for (const at::Tensor& own : partition.batches) {
    const at::Tensor taken = at::rand({before.numel()}, random_stream({seed, 22, companions.size()}), at::kFloat) < 0.5;
    companions.push_back(before.masked_select(taken));
    partition.shared = std::max(partition.shared, companions.back().numel());
    before = at::cat({before, own});
  }
  partition.find_companions = [companions](size_t b) { return companions.at(b); };
  return partition;
}

/// v_F + Σ_b (v_{C_b ∪ b} - v_{C_b}), with evidences by dense matrices.
double dense_bound(const RandomModel& random, const Partition& partition, const LaplaceOptions& options) {
  const Model& model = random.model;
  const auto value = [&](const at::Tensor& examples) {
    if (examples.numel() == 0) {
      const at::Tensor delta = model.prior.expand(model.hyperparameters.log_prior_precision).exp();
      return -0.5 * at::dot(delta, model.network.flat_parameters().square()).item<double>();
    }
    RandomModel some = random;
    some.data = batch_of(random.data, examples);
    return DenseEvidence(some).value(options, model.hyperparameters);
  };
  double sum = value(partition.first);
  for (size_t b = 0; b < partition.batches.size(); ++b) {
    const at::Tensor companions = partition.companions_of(b);
    sum += value(at::cat({companions, partition.batches[b]})) - value(companions);
  }
  return sum;
}

void compare(const RandomCase& random) {
  const RandomModel tested = make_model(random, random.float32), exact = make_model(random, false);
  const auto seed = static_cast<uint64_t>(random.seed);
  const int64_t largest = 1 + random.seed % random.examples;
  const std::vector<Partition> partitions = {
      make_partition(tested.data.inputs(), {largest, random.seed / 7 % largest}, random_stream({seed, 20})),
      uneven_partition(random.examples, seed, random.seed % 2 == 0)};
  for (const Structure structure : {Structure::full, Structure::diagonal}) {
    for (const CurvatureKind kind : {CurvatureKind::ggn, CurvatureKind::empirical_fisher}) {
      const LaplaceOptions options = options_of(structure, kind, random);
      const Evidence whole = evidence(fit_laplace(tested.model, tested.data, options), tested.model.hyperparameters);
      const double size = 1 + std::abs(whole.log_likelihood) + std::abs(whole.log_prior) + std::abs(whole.log_det) / 2;
      for (const auto& partition : partitions) {
        const double bound = bound_over_partition(tested.model, tested.data, partition, options).evidence.value;
        if (!(bound <= whole.value + (random.float32 ? 1e-5 : 1e-11) * size))
          throw std::runtime_error(fmt::format("the bound {:.12g} of {} batches is above the evidence {:.12g}", bound,
                                               partition.batches.size(), whole.value));
        if (structure != Structure::full || kind != CurvatureKind::ggn) continue;
        const double expected = dense_bound(exact, partition, options);
        if (!(std::abs(bound - expected) <= (random.float32 ? 5e-5 : 1e-9) * size))
          throw std::runtime_error(fmt::format("the bound is {:.12g}, but by dense matrices {:.12g}", bound, expected));
      }
    }
  }
}

TEST_F(RandomModels, TheMinibatchBoundIsALowerBound) {
  int64_t models = 0;
  EXPECT_EQ(find_failure("minibatch bound", compare, models), "");
  std::printf("%lld random models, each with two partitions\n", static_cast<long long>(models));
}

}  // namespace
}  // namespace ockham::properties
