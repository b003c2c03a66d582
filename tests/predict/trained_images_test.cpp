// A trained model of images: saved, loaded, and exported with its scaling inside.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include "ockham/base/atomic_file.h"
#include "ockham/base/random.h"
#include "ockham/network/architectures.h"
#include "ockham/network/scaled_images.h"
#include "ockham/network/torchscript.h"
#include "ockham/predict/export_torchscript.h"
#include "ockham/predict/scores.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_images.h"
#include "tests/support/torchscript_builder.h"

namespace ockham {
namespace {

class TrainedImages : public ::testing::Test {
 protected:
  TrainedModel make(const Network& plain, const std::string& name, const std::string& torchscript = "") const {
    const ImageScaling scaling = learn_scaling(images_);
    const Network network = scale_images(plain, scaling);
    Hyperparameters values = default_likelihood_hyperparameters(Categorical{}, 3);
    const Prior prior = Prior::layerwise(network.layout());
    values.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
    const Model model{network, Categorical{}, prior, values};
    LaplaceOptions options;
    options.curvature.structure = Structure::diagonal;
    options.curvature.kind = CurvatureKind::empirical_fisher;
    LaplaceFit posterior = fit_laplace(model, Dataset(images_.images, images_.labels), options);
    return {name,   torchscript, {3, 32, 32}, model, std::move(posterior), image_encoding({"cat", "dog", "owl"}),
            scaling};
  }
  TrainedModel make(const std::string& spec) const {
    return make(make_architecture(spec, {3, 32, 32}, 3, at::kFloat, 4), spec);
  }

  testing::TemporaryDirectory directory_;
  std::string path_ = directory_.path("model");
  ImageSet images_ = testing::tiny_images(6, 3, 32, 1);
};

TEST_F(TrainedImages, ComesBackWithItsScalingAndClasses) {
  for (const char* spec : {"linear", "mlp:5", "resnet:depth=8,width=2"}) {
    const TrainedModel trained = make(spec);
    save_trained_model(path_, trained);
    const TrainedModel loaded = load_trained_model(path_);
    ASSERT_TRUE(loaded.images.has_value());
    EXPECT_EQ(loaded.images->mean, trained.images->mean);
    EXPECT_EQ(loaded.images->sd, trained.images->sd);
    EXPECT_EQ(loaded.encoding.classes, trained.encoding.classes);
    EXPECT_EQ(loaded.input_shape, trained.input_shape);
    EXPECT_TRUE(predict_outputs(loaded, images_.images).equal(predict_outputs(trained, images_.images)));
    EXPECT_TRUE(predict_table(loaded, images_.images)
                    .probabilities.equal(predict_table(trained, images_.images).probabilities));
  }
}

TEST_F(TrainedImages, TheExportTakesBytesAndNumbersFrom0To255) {
  for (const char* spec : {"mlp:5", "resnet:depth=8,width=2"}) {
    const TrainedModel trained = make(spec);
    export_torchscript(trained, path_);
    torch::jit::Module module = torch::jit::load(path_);
    const at::Tensor expected = class_probabilities(predict_outputs(trained, images_.images));
    for (const at::ScalarType type : {at::kByte, at::kFloat, at::kDouble}) {
      const at::Tensor found = module.forward({images_.images.to(type)}).toTensor();
      EXPECT_TRUE(found.allclose(expected, 1e-4, 1e-6)) << c10::toString(type);
    }
    EXPECT_EQ(module.attr("class_names").toListRef().size(), 3u);
  }
}

TEST_F(TrainedImages, ATorchScriptNetworkGetsTheScaledImages) {
  const std::string file = directory_.path("net.pt");
  at::manual_seed(2);
  testing::TorchScriptBuilder()
      .parameter("weight", at::randn({3, 3072}) / 50)
      .define("def forward(self, x):\n    return torch.linear(torch.flatten(x, 1), self.weight)\n")
      .save(file);
  const Network plain = load_torchscript(file, at::kFloat);
  const TrainedModel trained = make(plain, "net.pt", read_file(file));
  save_trained_model(path_, trained);
  const TrainedModel loaded = load_trained_model(path_);
  EXPECT_TRUE(predict_outputs(loaded, images_.images).equal(predict_outputs(trained, images_.images)));
  export_torchscript(loaded, directory_.path("out.pt"));
  torch::jit::Module module = torch::jit::load(directory_.path("out.pt"));
  EXPECT_TRUE(module.forward({images_.images})
                  .toTensor()
                  .allclose(class_probabilities(predict_outputs(trained, images_.images)), 1e-4, 1e-6));
}

TEST_F(TrainedImages, ScoresOfProbabilitiesAreThoseOfTheModel) {
  const TrainedModel trained = make("mlp:5");
  const Dataset data(images_.images, images_.labels);
  const PredictiveScores whole = score(trained, data);
  const PredictiveScores parts =
      score_probabilities(class_probabilities(predict_outputs(trained, images_.images)),
                          predict_table(trained, images_.images).probabilities, images_.labels);
  EXPECT_DOUBLE_EQ(parts.nll, whole.nll);
  EXPECT_DOUBLE_EQ(parts.nll_bayes, whole.nll_bayes);
  EXPECT_DOUBLE_EQ(*parts.ece_bayes, *whole.ece_bayes);
  EXPECT_DOUBLE_EQ(*parts.brier, *whole.brier);
}

}  // namespace
}  // namespace ockham
