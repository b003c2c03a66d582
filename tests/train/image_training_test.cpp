// Training on images: augmentation by a stream of its own, and leaving a long epoch.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "ockham/network/architectures.h"
#include "ockham/network/scaled_images.h"
#include "ockham/train/train_online.h"
#include "tests/support/tiny_images.h"

namespace ockham {
namespace {

Model make_model() {
  const ImageSet set = testing::tiny_images(30, 1, 8, 1);
  const Network network = scale_images(make_architecture("mlp:6", {1, 8, 8}, 3, at::kFloat, 5), learn_scaling(set));
  const Prior prior = Prior::layerwise(network.layout());
  Hyperparameters values = default_likelihood_hyperparameters(Categorical{}, 3);
  values.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
  return {network, Categorical{}, prior, values};
}

Dataset make_data() {
  const ImageSet set = testing::tiny_images(30, 1, 8, 1);
  return Dataset(set.images, set.labels);
}

at::Tensor weights_after_an_epoch(const AugmentOptions& augment, uint64_t key) {
  const Model model = make_model();
  Optimiser optimiser(model.network.parameters(), {});
  MapOptions options;
  options.batch_size = 10;
  options.augment = augment;
  map_epoch(model, make_data(), options, optimiser, random_stream({key}));
  return model.network.flat_parameters();
}

OnlineOptions online_options() {
  OnlineOptions options;
  options.epochs = 6;
  options.frequency = 2;
  options.hyper.steps = 3;
  options.map.batch_size = 10;
  options.map.augment = {2, true};
  return options;
}

TEST(Augmentation, IsKeyedByTheStreamOfTheEpoch) {
  const AugmentOptions flip{0, true}, crop{2, false};
  EXPECT_TRUE(weights_after_an_epoch(flip, 1).equal(weights_after_an_epoch(flip, 1)));
  EXPECT_FALSE(weights_after_an_epoch(flip, 1).equal(weights_after_an_epoch({}, 1)));
  EXPECT_FALSE(weights_after_an_epoch(flip, 1).equal(weights_after_an_epoch(crop, 1)));
}

TEST(Augmentation, BytesStayBytesAndTheCurvatureSeesTheImagesAsTheyAre) {
  const Model model = make_model();
  const Dataset data = make_data();
  OnlineOptions options = online_options();
  options.optimiser.learning_rate = 1e-12;  // nothing moves: only the curvature passes are compared
  const double augmented = train_online(model, data, options).best.log_evidence;
  options.map.augment = {};
  EXPECT_NEAR(train_online(make_model(), data, options).best.log_evidence, augmented, 1e-5);
}

TEST(LongEpochs, AreLeftAtOnceAndDoneAgain) {
  const Dataset data = make_data();
  const OnlineResult whole = train_online(make_model(), data, online_options());
  for (const bool in_curvature : {false, true}) {
    // The first epoch is always watched, so the training is left at its start.
    OnlineOptions options = online_options();
    options.frequency = 1;
    const OnlineResult reference = train_online(make_model(), data, options);
    int64_t batches = 0;
    options.after_batch = [&](const BatchProgress& progress) {
      ++batches;
      return !(progress.curvature == in_curvature && progress.examples_done >= 20);
    };
    const OnlineResult left = train_online(make_model(), data, options);
    EXPECT_FALSE(left.finished);
    EXPECT_EQ(left.state.epoch, 0);
    EXPECT_GT(batches, 1);
    EXPECT_TRUE(left.state.theta.equal(make_model().network.flat_parameters()));
    options.after_batch = {};
    options.resume = std::make_shared<OnlineState>(left.state);
    const OnlineResult resumed = train_online(make_model(), data, options);
    EXPECT_TRUE(resumed.finished);
    EXPECT_TRUE(resumed.state.theta.equal(reference.state.theta));
    EXPECT_EQ(resumed.best.log_evidence, reference.best.log_evidence);
  }
  // From the middle of a training too.
  OnlineOptions options = online_options();
  const OnlineResult half =
      train_online(make_model(), data, options, [](const OnlineProgress& progress) { return progress.epoch < 3; });
  options.resume = std::make_shared<OnlineState>(half.state);
  options.after_batch = [](const BatchProgress& progress) { return progress.epoch < 4; };
  const OnlineResult left = train_online(make_model(), data, options);
  EXPECT_EQ(left.state.epoch, 3);
  options.resume = std::make_shared<OnlineState>(left.state);
  options.after_batch = {};
  EXPECT_TRUE(train_online(make_model(), data, options).state.theta.equal(whole.state.theta));
}

}  // namespace
}  // namespace ockham
