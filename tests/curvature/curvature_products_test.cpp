#include "ockham/curvature/curvature_products.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/base/random.h"
#include "ockham/network/torchscript.h"
#include "tests/support/dense_reference.h"
#include "tests/support/expect_error.h"
#include "tests/support/finite_differences.h"
#include "tests/support/layer_zoo.h"
#include "tests/support/likelihood_cases.h"
#include "tests/support/ordinary_networks.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

using testing::brute_force_curvature;
using testing::relative_mismatch;

at::Tensor normal(std::vector<int64_t> shape, uint64_t seed) {
  return at::randn(shape, random_stream({seed}), at::kDouble);
}

/// tanh network 4-5-C.
Network small_network(int64_t outputs) {
  std::vector<std::pair<std::string, at::Tensor>> parameters = {{"hidden.weight", normal({5, 4}, 1)},
                                                                {"hidden.bias", normal({5}, 2)},
                                                                {"output.weight", normal({outputs, 5}, 3)},
                                                                {"output.bias", normal({outputs}, 4)}};
  for (auto& [name, tensor] : parameters) tensor.set_requires_grad(true);
  return Network(parameters, [parameters](const at::Tensor& inputs) {
    const at::Tensor hidden = at::tanh(at::linear(inputs, parameters[0].second, parameters[1].second));
    return at::linear(hidden, parameters[2].second, parameters[3].second);
  });
}

CurvatureProducts::Options in_batches_of(int64_t size, CurvatureKind kind = CurvatureKind::ggn) {
  CurvatureProducts::Options options;
  options.batch_size = size;
  options.kind = kind;
  return options;
}

TEST(CurvatureProducts, EqualTheDenseMatrixForEveryLikelihood) {
  const int64_t examples = 7;
  const at::Tensor inputs = normal({examples, 4}, 5);
  for (const testing::LikelihoodCase& one : testing::likelihood_cases(examples)) {
    for (CurvatureKind kind : {CurvatureKind::ggn, CurvatureKind::empirical_fisher}) {
      SCOPED_TRACE(name_of(one.likelihood));
      const Network network = small_network(one.outputs);
      const Hyperparameters values = default_likelihood_hyperparameters(one.likelihood, one.outputs);
      const Dataset data(inputs, one.targets);
      const CurvatureProducts products(network, one.likelihood, data, values, in_batches_of(3, kind));
      const at::Tensor rows = normal({4, network.layout().total()}, 6);
      const at::Tensor expected = brute_force_curvature(network, inputs, one.targets, one.likelihood, values, kind);
      EXPECT_LT(relative_mismatch(products.multiply(rows), rows.mm(expected)), 1e-10);
    }
  }
}

TEST(CurvatureProducts, BothTangentsEqualTheDenseMatrixForEveryKindOfLayer) {
  int forward_modes = 0;
  for (const testing::ZooNetwork& one : testing::layer_zoo()) {
    SCOPED_TRACE(one.name);
    const at::Tensor targets = at::arange(5).remainder(3);
    const Hyperparameters values = default_likelihood_hyperparameters(Categorical{}, 3);
    const at::Tensor expected =
        brute_force_curvature(one.network, one.inputs, targets, Categorical{}, values, CurvatureKind::ggn);
    const at::Tensor rows = normal({2, one.network.layout().total()}, 7);
    const Dataset data(one.inputs, targets);
    for (TangentMode mode : {TangentMode::double_backward, TangentMode::forward_mode}) {
      if (!tangents_work(one.network, one.inputs, mode)) {
        EXPECT_EQ(mode, TangentMode::forward_mode);  // libtorch's has gaps
        continue;
      }
      forward_modes += mode == TangentMode::forward_mode ? 1 : 0;
      CurvatureProducts::Options options = in_batches_of(5);
      options.tangents = mode;
      const CurvatureProducts products(one.network, Categorical{}, data, values, options);
      EXPECT_LT(relative_mismatch(products.multiply(rows), rows.mm(expected)), 1e-9) << static_cast<int>(mode);
    }
    EXPECT_EQ(choose_tangent_mode(one.network, one.inputs), TangentMode::double_backward);
  }
  EXPECT_GT(forward_modes, 5);
}

TEST(CurvatureProducts, WorkForTorchScriptFilesInBothTypes) {
  const testing::TemporaryDirectory directory;
  testing::save_batch_norm_resnet(directory.path("resnet.pt"));
  testing::save_vision_transformer(directory.path("transformer.pt"));
  const at::Tensor inputs = normal({6, 2, 6, 6}, 8), targets = at::arange(6).remainder(3);
  const Hyperparameters values = default_likelihood_hyperparameters(Categorical{}, 3);
  for (const char* name : {"resnet.pt", "transformer.pt"}) {
    const Network network = load_torchscript(directory.path(name), at::kDouble);
    const at::Tensor rows = normal({2, network.layout().total()}, 9);
    const Dataset data(inputs, targets);
    const at::Tensor expected =
        rows.mm(brute_force_curvature(network, inputs, targets, Categorical{}, values, CurvatureKind::ggn));
    const CurvatureProducts products(network, Categorical{}, data, values, in_batches_of(4));
    for (int repetition = 0; repetition < 2; ++repetition)  // TorchScript changes its ways with the second run
      EXPECT_LT(relative_mismatch(products.multiply(rows), expected), 1e-9) << name;
    const Network single = load_torchscript(directory.path(name), at::kFloat);
    const CurvatureProducts in_single(single, Categorical{}, data, values, in_batches_of(4));
    const at::Tensor found = in_single.multiply(rows);
    EXPECT_EQ(found.scalar_type(), at::kDouble);
    EXPECT_LT(((found - expected).norm() / expected.norm()).item<double>(), 1e-5) << name;
  }
}

TEST(CurvatureProducts, RootFormsAreTheDerivativesInTemperatureAndNoise) {
  const int64_t examples = 6;
  const at::Tensor inputs = normal({examples, 4}, 10);
  for (const testing::LikelihoodCase& one : testing::likelihood_cases(examples)) {
    if (root_hyperparameter_count(one.likelihood, one.outputs) == 0) continue;
    SCOPED_TRACE(name_of(one.likelihood));
    const Network network = small_network(one.outputs);
    Hyperparameters values = default_likelihood_hyperparameters(one.likelihood, one.outputs);
    const bool noise = values.log_noise.numel() > 0;
    at::Tensor& moving = noise ? values.log_noise : values.log_temperature;
    const at::Tensor left = normal({2, network.layout().total()}, 11),
                     right = normal({2, network.layout().total()}, 12);
    const Dataset data(inputs, one.targets);
    const CurvatureProducts products(network, one.likelihood, data, values, in_batches_of(4));
    const at::Tensor forms = products.root_forms(left, right);
    const at::Tensor start = moving.clone();
    for (int64_t s = 0; s < 2; ++s) {
      const at::Tensor expected = testing::finite_difference_gradient(
          [&](const at::Tensor& at) {
            moving = at.clone();
            const CurvatureProducts there(network, one.likelihood, data, values, in_batches_of(4));
            return at::dot(left[s], there.multiply(right)[s]).item<double>();
          },
          start);
      moving = start;
      EXPECT_LT(testing::relative_difference(forms[s], expected), 1e-8);
    }
  }
}

TEST(CurvatureProducts, CountTheirBatchesAndRefuseSampledCurvature) {
  const Network network = small_network(1);
  const Dataset data(normal({10, 4}, 13), normal({10, 1}, 14));
  const Hyperparameters values = default_likelihood_hyperparameters(Gaussian{}, 1);
  CurvatureProducts::Options options = in_batches_of(4);
  int64_t seen = 0;
  options.progress = [&](int64_t batch) { seen = batch; };
  const CurvatureProducts products(network, Gaussian{}, data, values, options);
  products.multiply(normal({1, network.layout().total()}, 15));
  EXPECT_EQ(seen, products.batches());
  testing::expect_error(ErrorKind::usage, {"Monte-Carlo", "--curvature ggn"}, [&] {
    const CurvatureProducts sampled(network, Gaussian{}, data, values, in_batches_of(4, CurvatureKind::mc_fisher));
  });
}

}  // namespace
}  // namespace ockham
