#include "experiments/image_cell.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "experiments/image_curve.h"
#include "experiments/image_data.h"
#include "ockham/base/random.h"
#include "ockham/evidence/evidence.h"
#include "ockham/network/architectures.h"
#include "ockham/network/scaled_images.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_images.h"

namespace ockham::paper {
namespace {

using testing::TemporaryDirectory;
using testing::tiny_images;
using testing::write_cifar_directory;
using testing::write_idx_directory;

class ImageCell : public ::testing::Test {
 protected:
  ImageCell() {
    write_idx_directory(data_.path("mnist"), tiny_images(60, 1, 8, 1), 30, 2);
    settings_.data = data_.path("");
    training_ = paper_training("mnist", "mlp:6", ImageMethod::kron, {2, 1, 40, 20, false, false});
    training_.seed = 3;
    training_.learning_rate = 0.02;
  }

  Json run(const ImageTraining& training, const CellContext& context = {}) const {
    return train_images(training, settings_, context);
  }

  TemporaryDirectory data_;
  Settings settings_;
  ImageTraining training_;
};

TEST_F(ImageCell, GivesItsNumbers) {
  const Json result = run(training_);
  EXPECT_EQ(result.at("images"), 40);
  EXPECT_EQ(result.at("test_images"), 20);
  EXPECT_EQ(result.at("parameters"), 64 * 6 + 6 + 6 * 3 + 3);
  EXPECT_EQ(result.at("losses").size(), 2u);
  EXPECT_EQ(result.at("passes").size(), 2u);
  EXPECT_NEAR(number_of(result, "evidence"), number_of(result, "log_evidence") / 40, 1e-12);
  EXPECT_GT(number_of(result, "accuracy"), 0.3);
  EXPECT_LT(number_of(result, "log_likelihood"), 0);
  EXPECT_GE(number_of(result, "ece"), 0);
  EXPECT_FALSE(result.contains("auroc"));
  EXPECT_FALSE(result.contains("bayes"));
  EXPECT_FALSE(result.contains("curve"));
  EXPECT_FALSE(result.contains("failure"));
}

TEST_F(ImageCell, IsRepeatable) {
  const Json first = run(training_), second = run(training_);
  for (const char* key : {"accuracy", "log_likelihood", "ece", "log_evidence", "losses", "passes"})
    EXPECT_EQ(first.at(key), second.at(key)) << key;
  ImageTraining other = training_;
  other.seed = 4;
  EXPECT_NE(run(other).at("log_evidence"), first.at("log_evidence"));
}

/// The same training by the library alone, and its evidence by a fit at the last state.
TEST_F(ImageCell, WeightDecayEndsWithTheEvidenceOfItsLastState) {
  ImageTraining decay = paper_training("mnist", "mlp:6", ImageMethod::weight_decay, {2, 1, 40, 20, false, false});
  decay.seed = 3;
  const Json result = run(decay);
  EXPECT_EQ(result.at("passes").size(), 1u);
  EXPECT_EQ(result.at("best_epoch"), 2);

  const ImageProblem problem = read_image_problem(data_.path("mnist"), 40, 20, 3);
  const Network network = scale_images(
      make_architecture("mlp:6", problem.shape, 3, at::kFloat, stream_seed({3, 0x7061706572776569})), problem.scaling);
  const Prior prior = Prior::scalar(network.layout());
  Hyperparameters values = default_likelihood_hyperparameters(Categorical{}, 3);
  values.log_prior_precision = at::full({1}, std::log(5e-4 * 40), at::kDouble);
  const Model model{network, Categorical{}, prior, values};
  OnlineOptions options = online_options(decay, 0);
  Optimiser optimiser(network.parameters(), options.optimiser);
  const uint64_t order = 0x6f72646572000000;
  for (uint64_t epoch = 1; epoch <= 2; ++epoch) {
    optimiser.set_learning_rate(learning_rate_at(options.optimiser, static_cast<int64_t>(epoch) - 1, 2));
    map_epoch(model, problem.training, options.map, optimiser, random_stream({3, 0, 0, epoch, order}));
  }
  const LaplaceFit fit = fit_laplace(model, problem.training, options.laplace);
  EXPECT_NEAR(number_of(result, "log_evidence"), evidence(fit, values).value, 1e-3);
}

TEST_F(ImageCell, MethodsDiffer) {
  std::vector<double> evidences;
  for (const ImageMethod method :
       {ImageMethod::kron, ImageMethod::kron_damped, ImageMethod::diagonal_ef, ImageMethod::diagonal_ggn}) {
    training_.method = method;
    evidences.push_back(number_of(run(training_), "log_evidence"));
  }
  for (size_t i = 0; i < evidences.size(); ++i)
    for (size_t j = 0; j < i; ++j) EXPECT_NE(evidences[i], evidences[j]) << i << " " << j;
}

TEST_F(ImageCell, AnInterruptedOneGoesOnToTheSameNumbers) {
  training_.epochs = 6;
  training_.best_after = 5;
  training_.curve_images = 10;
  const Json whole = run(training_);
  const std::string directory = data_.path("cell");
  std::filesystem::create_directories(directory);
  const CellContext interrupted{directory, [](double fraction) { return fraction < 0.4; }};
  EXPECT_THROW(run(training_, interrupted), Interrupted);
  EXPECT_TRUE(std::filesystem::exists(directory + "/training.checkpoint"));
  const Json resumed = run(training_, {directory, {}});
  for (const char* key : {"accuracy", "log_likelihood", "log_evidence", "losses", "passes", "curve"})
    EXPECT_EQ(resumed.at(key), whole.at(key)) << key;
}

TEST_F(ImageCell, CurvesAreScoredAfterEveryEpoch) {
  training_.curve_images = 20;  // all test images
  training_.method = ImageMethod::weight_decay;
  training_.steps = 0;
  training_.frequency = training_.best_after = training_.epochs;
  const Json result = run(training_);
  ASSERT_EQ(result.at("curve").size(), 2u);
  const Json& last = result.at("curve")[1];
  EXPECT_NEAR(number_of(last, "test_nll"), -number_of(result, "log_likelihood"), 1e-12);
  EXPECT_NEAR(number_of(last, "test_error"), 1 - number_of(result, "accuracy"), 1e-12);
}

TEST_F(ImageCell, LinearisedScoresOtherImagesAndAugmentation) {
  write_cifar_directory(data_.path("cifar-10"), 24, 12, 5);
  write_cifar_directory(data_.path("svhn-subset"), 9, 6, 9);
  ImageTraining training =
      paper_training("cifar-10", "cnn:width=2,depth=2", ImageMethod::diagonal_ef, {2, 1, 0, 0, false, false});
  training.augment = true;
  training.likelihood_weight = 5;
  training.other = "svhn";
  training.linearised = 8;
  const Json result = run(training);
  EXPECT_NEAR(number_of(result, "evidence"), number_of(result, "log_evidence") / (5 * 24), 1e-12);
  EXPECT_GE(number_of(result, "auroc"), 0);
  EXPECT_LE(number_of(result, "auroc"), 1);
  EXPECT_EQ(result.at("bayes").at("images"), 8);
  EXPECT_LT(number_of(result.at("bayes"), "log_likelihood"), 0);
  const Cell cell = image_cell("cifar-10/x/seed-0", training, settings_);
  EXPECT_TRUE(cell.settings.contains("data"));
  EXPECT_TRUE(cell.settings.contains("other_data"));
}

TEST(ImageCellCost, CountsMultiplications) {
  EXPECT_EQ(multiply_adds("mlp:50-20", "mnist"), 784 * 50 + 50 * 20 + 20 * 10);
  EXPECT_EQ(multiply_adds("cnn:width=4,depth=2", "cifar-10"), 1024 * 9 * (3 * 4 + 4 * 8));
  EXPECT_GT(multiply_adds("resnet:depth=110,width=16", "cifar-10"), 5 * multiply_adds("resnet:depth=20", "cifar-10"));
}

TEST(EpochCurve, SeesWholeEpochsOnly) {
  std::vector<int64_t> seen;
  EpochCurve curve({}, 4, [&](int64_t epoch) -> Json {
    seen.push_back(epoch);
    return epoch;
  });
  const CellContext context = curve.watched();
  for (const double epoch : {0.0, 0.25, 0.5, 1.0, 1.3, 1.5, 2.0, 4.0}) EXPECT_TRUE(context.go_on(epoch / 4));
  EXPECT_EQ(seen, (std::vector<int64_t>{1, 2, 4}));
  EXPECT_EQ(curve.values(), Json({1, 2, nullptr, 4}));
}

}  // namespace
}  // namespace ockham::paper
