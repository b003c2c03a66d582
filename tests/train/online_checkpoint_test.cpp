#include "ockham/train/online_checkpoint.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ockham/network/architectures.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

struct Problem {
  Dataset data;
  OnlineOptions options;

  Problem() : data(make_data()) {
    options.epochs = 12;
    options.frequency = 3;
    options.hyper.steps = 2;
    options.map.batch_size = 8;
    options.optimiser.learning_rate = 0.02;
    options.stall_passes = 100;
  }
  static Dataset make_data() {
    auto generator = random_stream({3});
    const at::Tensor inputs = at::randn({20, 2}, generator, at::kFloat);
    return {inputs, inputs.sum(1, true) + 0.1 * at::randn({20, 1}, generator, at::kFloat)};
  }
  static Model model() {
    const Network network = make_architecture("mlp:4,act=tanh", {2}, 1, at::kFloat, 7);
    const Prior prior = Prior::layerwise(network.layout());
    Hyperparameters start = default_likelihood_hyperparameters(Gaussian{}, 1);
    start.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
    return {network, Gaussian{}, prior, start};
  }
  OnlineState state_after(int64_t epochs) const {
    return train_online(model(), data, options, [=](const OnlineProgress& now) { return now.epoch < epochs; }).state;
  }
};

void expect_to_go_on_bit_for_bit(Problem problem) {
  const testing::TemporaryDirectory directory;
  const OnlineResult whole = train_online(Problem::model(), problem.data, problem.options);
  for (const int64_t stop : {1, 3, 7, 12}) {
    const std::string path = directory.path("state.safetensors");
    write_checkpoint(path, to_checkpoint(problem.state_after(stop)), "f");
    problem.options.resume = std::make_shared<OnlineState>(online_state(read_checkpoint(path, "f")));
    const OnlineResult resumed = train_online(Problem::model(), problem.data, problem.options);
    problem.options.resume.reset();
    EXPECT_TRUE(resumed.best.mode.equal(whole.best.mode)) << stop;
    EXPECT_EQ(resumed.best.log_evidence, whole.best.log_evidence) << stop;
    EXPECT_EQ(resumed.gradient_norm, whole.gradient_norm) << stop;
    EXPECT_EQ(resumed.state.losses, whole.state.losses) << stop;
    ASSERT_EQ(resumed.state.passes.size(), whole.state.passes.size()) << stop;
    for (size_t i = 0; i < whole.state.passes.size(); ++i) {
      EXPECT_EQ(resumed.state.passes[i].evidences, whole.state.passes[i].evidences);
      EXPECT_EQ(resumed.state.passes[i].log_evidence, whole.state.passes[i].log_evidence);
      EXPECT_TRUE(
          resumed.state.passes[i].hyperparameters.log_noise.equal(whole.state.passes[i].hyperparameters.log_noise));
    }
    EXPECT_TRUE(resumed.finished);
  }
}

TEST(OnlineCheckpoint, ATrainingGoesOnFromAFileBitForBit) { expect_to_go_on_bit_for_bit({}); }

// More weights than examples: passes by hand and general ones round differently, and none may follow a resume alone.
TEST(OnlineCheckpoint, SoDoesOneWithTheFullCurvatureOfMoreWeightsThanExamples) {
  Problem problem;
  problem.options.laplace.curvature.structure = Structure::full;
  problem.data = Dataset(problem.data.inputs().narrow(0, 0, 12), problem.data.targets().narrow(0, 0, 12));
  expect_to_go_on_bit_for_bit(problem);
}

TEST(OnlineCheckpoint, KeepsFailureAndMessages) {
  OnlineState state = Problem().state_after(3);
  state.failure = "the loss is not finite";
  state.messages = {"one", "two"};
  const OnlineState read = online_state(to_checkpoint(state));
  EXPECT_EQ(read.failure, state.failure);
  EXPECT_EQ(read.messages, state.messages);
}

TEST(OnlineCheckpoint, AFailedTrainingIsNotTrainedFurther) {
  Problem problem;
  OnlineState state = problem.state_after(3);
  state.failure = "the loss is not finite";
  problem.options.resume = std::make_shared<OnlineState>(state);
  const OnlineResult result = train_online(Problem::model(), problem.data, problem.options);
  EXPECT_EQ(result.state.epoch, 3);
  EXPECT_EQ(result.failure, state.failure);
  EXPECT_TRUE(result.finished);
}

TEST(OnlineCheckpoint, CountsThatAreNoneAreRefused) {
  const Checkpoint good = to_checkpoint(Problem().state_after(6));
  for (const char* name : {"passes.steps", "passes.epoch"}) {
    for (const double value : {std::nan(""), -1.0, 1e300, -1e300, HUGE_VAL}) {
      Checkpoint damaged = good;
      damaged.tensors[name] = at::full_like(good.tensor(name), value);
      testing::expect_error(ErrorKind::data, {"does not fit together"}, [&] { online_state(damaged); });
    }
  }
}

TEST(OnlineCheckpoint, PassesThatDoNotFitTogetherAreRefused) {
  Checkpoint checkpoint = to_checkpoint(Problem().state_after(6));
  checkpoint.tensors["passes.loss"] = at::zeros({5}, at::kDouble);
  testing::expect_error(ErrorKind::data, {"passes"}, [&] { online_state(checkpoint); });
}

}  // namespace
}  // namespace ockham
