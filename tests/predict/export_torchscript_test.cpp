#include "ockham/predict/export_torchscript.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include "ockham/base/random.h"
#include "ockham/network/architectures.h"
#include "ockham/predict/table_predictions.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/trained_cases.h"

namespace ockham {
namespace {

using testing::make_trained;
using testing::TrainedCase;

class Exported : public ::testing::Test {
 protected:
  torch::jit::Module write_and_load(const TrainedModel& trained) const {
    export_torchscript(trained, path_);
    return torch::jit::load(path_);
  }
  testing::TemporaryDirectory directory_;
  std::string path_ = directory_.path("model.pt");
};

/// The features before scaling, as a user of the file has them.
at::Tensor raw_features(const TrainedModel& trained, const CsvTable& table) {
  TableEncoding unscaled = trained.encoding;
  for (ColumnEncoding& input : unscaled.inputs) input.mean = 0, input.sd = 1;
  return encode_inputs(unscaled, table);
}

void expect_map_predictions(torch::jit::Module& module, const TrainedModel& trained, const Likelihood& likelihood) {
  const CsvTable table = testing::trained_table(likelihood, 33, 6);
  PredictOptions options;
  options.method = PredictMethod::map;
  const TablePredictions expected = predict_table(trained, encode_inputs(trained.encoding, table), options);
  const at::Tensor values = expected.probabilities.defined() ? expected.probabilities : expected.regression.mean;
  const at::Tensor found = module.forward({raw_features(trained, table)}).toTensor();
  EXPECT_EQ(found.scalar_type(), at::kDouble);
  ASSERT_EQ(found.sizes(), values.sizes());
  EXPECT_LT(((found - values).abs().max() / values.abs().max()).item<double>(), 1e-6);
  const at::Tensor single = module.forward({raw_features(trained, table).to(at::kFloat).slice(0, 0, 1)}).toTensor();
  EXPECT_LT(((single - values.slice(0, 0, 1)).abs().max() / values.abs().max()).item<double>(), 1e-4);
}

TEST_F(Exported, PredictsAsMapForEveryLikelihoodAndActivation) {
  for (const Likelihood& likelihood :
       std::vector<Likelihood>{Gaussian{}, Gaussian{true}, Categorical{}, Bernoulli{}, Poisson{}}) {
    for (const char* spec : {"linear", "mlp:4-3", "mlp:4,act=gelu", "mlp:4,act=selu", "mlp:3,act=leaky_relu"}) {
      TrainedCase wanted;
      wanted.spec = spec;
      wanted.likelihood = likelihood;
      const TrainedModel trained = make_trained(wanted);
      torch::jit::Module module = write_and_load(trained);
      expect_map_predictions(module, trained, likelihood);
    }
  }
}

TEST_F(Exported, SaysWhatItTakesAndGives) {
  TrainedCase wanted;
  wanted.dtype = at::kDouble;
  const TrainedModel trained = make_trained(wanted);
  torch::jit::Module module = write_and_load(trained);
  std::vector<std::string> names;
  for (const c10::IValue& name : module.attr("feature_names").toListRef()) names.push_back(name.toStringRef());
  EXPECT_EQ(names, (std::vector<std::string>{"width", "colour=blue", "colour=green", "colour=red", "height"}));
  EXPECT_EQ(module.attr("target_names").toListRef()[0].toStringRef(), "price");
  EXPECT_EQ(module.attr("task").toStringRef(), "regression");
  EXPECT_EQ(module.attr("class_names").toListRef().size(), 0u);
  PredictOptions options;
  options.method = PredictMethod::map;
  const RegressionTable map = predict_table(trained, at::zeros({1, 5}), options).regression;
  EXPECT_NEAR(module.attr("noise_sd").toTensor().item<double>(), map.sd_noise.item<double>(), 1e-12);
  size_t parameters = 0;
  for (const auto& parameter : module.named_parameters()) {
    EXPECT_EQ(parameter.name.rfind("network.", 0), 0u) << parameter.name;
    ++parameters;
  }
  EXPECT_EQ(parameters, trained.model.network.layout().count());
}

TEST_F(Exported, ATorchScriptNetworkKeepsItsProgramAndGetsTheTrainedWeights) {
  TrainedCase wanted;
  wanted.spec = "net.pt";
  wanted.torchscript = testing::torchscript_bytes(3);
  wanted.likelihood = Categorical{};
  const TrainedModel trained = make_trained(wanted, 5);
  torch::jit::Module module = write_and_load(trained);
  expect_map_predictions(module, trained, wanted.likelihood);
}

TEST_F(Exported, NetworksForImages) {
  for (const char* spec : {"cnn:3c3d", "resnet:depth=8,width=4"}) {
    TrainedCase wanted;
    wanted.likelihood = Categorical{};
    TrainedModel trained = make_trained(wanted);
    const std::vector<int64_t> shape = {1, 12, 12};
    trained.network = spec;
    trained.input_shape = shape;
    trained.model.network = make_architecture(spec, shape, 3, at::kFloat, 3);
    const at::NoGradGuard no_grad;
    for (at::Tensor parameter : trained.model.network.parameters())  // Fixup starts with zeros
      parameter.add_(0.05 * at::randn(parameter.sizes(), random_stream({1})));
    ColumnEncoding pixel;
    pixel.mean = 100, pixel.sd = 30;
    trained.encoding.inputs.assign(144, pixel);
    torch::jit::Module module = write_and_load(trained);
    const at::Tensor scaled = at::randn({5, 144}, random_stream({2}), at::kDouble);
    PredictOptions options;
    options.method = PredictMethod::map;
    const at::Tensor expected = predict_table(trained, scaled, options).probabilities;
    const at::Tensor found = module.forward({100 + 30 * scaled}).toTensor();
    EXPECT_LT((found - expected).abs().max().item<double>(), 1e-5) << spec;
    const at::Tensor images = module.forward({(100 + 30 * scaled).view({5, 1, 12, 12})}).toTensor();
    EXPECT_TRUE(images.equal(found));
  }
}

TEST_F(Exported, GoesWhereItCan) {
  const TrainedModel trained = make_trained({});
  testing::expect_error(ErrorKind::failure, {"nowhere"},
                        [&] { export_torchscript(trained, directory_.path("nowhere/model.pt")); });
}

}  // namespace
}  // namespace ockham
