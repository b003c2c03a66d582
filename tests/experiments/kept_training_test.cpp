#include "experiments/kept_training.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ockham/base/random.h"
#include "ockham/network/architectures.h"
#include "tests/support/temporary_directory.h"

namespace ockham::paper {
namespace {

Dataset make_data() {
  auto generator = random_stream({3});
  const at::Tensor inputs = at::randn({20, 2}, generator, at::kDouble);
  return {inputs, inputs.sum(1, true) + 0.1 * at::randn({20, 1}, generator, at::kDouble)};
}

Model make_model() {
  const Network network = make_architecture("mlp:4", {2}, 1, at::kDouble, 7);
  const Prior prior = Prior::layerwise(network.layout());
  Hyperparameters start = default_likelihood_hyperparameters(Gaussian{}, 1);
  start.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
  return {network, Gaussian{}, prior, start};
}

OnlineOptions options() {
  OnlineOptions options;
  options.epochs = 30;
  options.frequency = 2;
  options.hyper.steps = 2;
  options.laplace.curvature.structure = Structure::full;
  return options;
}

TEST(KeptTraining, GoesOnAfterAnInterruptToTheSameResult) {
  const testing::TemporaryDirectory directory;
  const std::string place = directory.path("");
  const OnlineResult whole = train_kept({}, make_model(), make_data(), options());
  EXPECT_TRUE(whole.finished);
  double reached = 0;
  EXPECT_THROW(train_kept({place,
                           [&](double fraction) {
                             reached = fraction;
                             return fraction < 0.4;
                           }},
                          make_model(), make_data(), options()),
               Interrupted);
  EXPECT_NEAR(reached, 0.4, 1e-9);
  EXPECT_TRUE(std::filesystem::exists(place + "/training.checkpoint"));
  double first = 2;
  const OnlineResult resumed = train_kept({place,
                                           [&](double fraction) {
                                             first = std::min(first, fraction);
                                             return true;
                                           }},
                                          make_model(), make_data(), options());
  EXPECT_GT(first, 0.4) << "it did not begin again";
  EXPECT_TRUE(resumed.best.mode.equal(whole.best.mode));
  EXPECT_EQ(resumed.best.log_evidence, whole.best.log_evidence);
}

TEST(KeptTraining, ADamagedCheckpointIsAsNone) {
  const testing::TemporaryDirectory directory;
  testing::write_bytes(directory.path("training.checkpoint"), "no checkpoint");
  const OnlineResult result = train_kept({directory.path(""), {}}, make_model(), make_data(), options());
  EXPECT_TRUE(result.finished);
}

TEST(KeptTraining, PartsOfACellShareItsProgress) {
  std::vector<double> seen;
  const CellContext whole{"place", [&](double fraction) {
                            seen.push_back(fraction);
                            return true;
                          }};
  part_of(whole, 0.5, 0.75).go_on(0.5);
  part_of(whole, int64_t{1}, int64_t{4}).go_on(1);
  EXPECT_EQ(seen, (std::vector<double>{0.625, 0.5}));
  EXPECT_EQ(part_of(whole, 0.0, 1.0).directory, "place");
  EXPECT_TRUE(part_of({}, 0.0, 1.0).go_on(0.5));
}

}  // namespace
}  // namespace ockham::paper
