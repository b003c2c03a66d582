#include "ockham/train/train_online.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/finite_differences.h"
#include "tests/support/golden.h"

namespace ockham {
namespace {

using nlohmann::json;
using testing::relative_difference;

constexpr double kGolden = 1e-7;  // six epochs of Adam carry rounding on

struct Trajectory {
  json file;
  testing::GoldenCase golden;
  OnlineOptions options;
  Prior prior;
  Hyperparameters start;
};

Trajectory read_trajectory(const std::string& name) {
  const json file = testing::read_golden_json(name);
  testing::GoldenCase golden;
  golden.name = name;
  golden.network_in_words = file["network"];
  const bool regression = file["likelihood"] == "regression";
  golden.likelihood = regression ? Likelihood(Gaussian{}) : Likelihood(Categorical{});
  at::Tensor theta = testing::tensor_of(file["theta0"]);
  std::vector<ParameterSlot> slots;
  int64_t offset = 0;
  for (const json& entry : file["param_order"]) {
    const auto shape = entry["shape"].get<std::vector<int64_t>>();
    int64_t size = 1;
    for (int64_t d : shape) size *= d;
    golden.parameters.emplace_back(entry["name"], theta.narrow(0, offset, size).view(shape).clone().requires_grad_());
    slots.push_back({entry["name"], shape, 0, 0});
    offset += size;
  }
  golden.inputs = testing::tensor_of(file["X"]).view(file["X_shape"].get<std::vector<int64_t>>());
  golden.targets = testing::tensor_of(file["y"]);
  if (!regression)
    golden.targets = golden.targets.to(at::kLong);
  else
    golden.targets = golden.targets.view({-1, file["C"].get<int64_t>()});

  const json& settings = file["settings"];
  OnlineOptions options;
  options.epochs = settings["n_epochs"];
  options.frequency = settings["marglik_frequency"];
  options.hyper.steps = settings["n_hypersteps"];
  options.hyper.step_size = settings["lr_hyp"];
  options.optimiser.learning_rate = settings["lr"];
  if (settings["optimizer"].get<std::string>().find("SGD") == 0) options.optimiser.kind = OptimiserKind::sgd;
  options.map.batch_size = settings["batch_size"];
  options.map.shuffle = false;
  const std::string laplace = file["laplace"], backend = file["backend"];
  options.laplace.curvature.structure = laplace == "FullLaplace"   ? Structure::full
                                        : laplace == "DiagLaplace" ? Structure::diagonal
                                                                   : Structure::kronecker;
  options.laplace.curvature.kind =
      backend.find("EF") != std::string::npos ? CurvatureKind::empirical_fisher : CurvatureKind::ggn;
  const ParameterLayout layout(slots);
  const Prior prior = settings["prior_structure"] == "scalar" ? Prior::scalar(layout) : Prior::layerwise(layout);
  Hyperparameters start = default_likelihood_hyperparameters(golden.likelihood, file["C"]);
  start.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
  return {file, golden, options, prior, start};
}

class GoldenTrajectory : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenTrajectory, IsReproduced) {
  const Trajectory trajectory = read_trajectory(GetParam());
  const Network network = testing::make_golden_network(trajectory.golden);
  const OnlineResult result = train_online({network, trajectory.golden.likelihood, trajectory.prior, trajectory.start},
                                           trajectory.golden.data(), trajectory.options);
  ASSERT_TRUE(result.failure.empty()) << result.failure;
  std::vector<double> negative;
  for (const OnlinePass& pass : result.state.passes) {
    for (double evidence : pass.evidences) negative.push_back(-evidence);
  }
  const json& file = trajectory.file;
  EXPECT_LT(relative_difference(at::tensor(negative, at::kDouble), testing::tensor_of(file["neg_log_margliks"])),
            kGolden);
  EXPECT_LT(relative_difference(at::tensor(result.state.losses, at::kDouble), testing::tensor_of(file["epoch_losses"])),
            kGolden);
  EXPECT_LT(relative_difference(result.best.mode, testing::tensor_of(file["theta_best"])), 1e-5);
  EXPECT_LT(relative_difference(result.best.hyperparameters.log_prior_precision.exp(),
                                testing::tensor_of(file["prior_prec_best"])),
            kGolden);
  if (result.best.hyperparameters.log_noise.numel() > 0) {
    EXPECT_NEAR(std::exp(result.best.hyperparameters.log_noise.item<double>()), file["sigma_best"].get<double>(),
                kGolden);
  }
  EXPECT_LT(relative_difference(network.flat_parameters(), result.best.mode), 1e-15) << "the best state is restored";
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenTrajectory,
                         ::testing::Values("traj_diagef_cat_sgd", "traj_fullef_cat_scalar", "traj_fullggn_gauss",
                                           "traj_kfac_cat", "traj_kfac_cnn_cat_expand",
                                           "traj_kfac_gauss_complete_sigma_grad"),
                         [](const auto& info) { return std::string(info.param); });

TEST(TrainOnline, DivergenceEndsWithItsReasonAndTheBestState) {
  Trajectory trajectory = read_trajectory("traj_fullggn_gauss");
  trajectory.options.optimiser.kind = OptimiserKind::sgd;
  trajectory.options.optimiser.learning_rate = 1e6;
  trajectory.options.epochs = 50;
  const Network network = testing::make_golden_network(trajectory.golden);
  const OnlineResult result = train_online({network, trajectory.golden.likelihood, trajectory.prior, trajectory.start},
                                           trajectory.golden.data(), trajectory.options);
  EXPECT_NE(result.failure.find("in epoch "), std::string::npos) << result.failure;
  EXPECT_NE(result.failure.find("not finite"), std::string::npos) << result.failure;
  EXPECT_LT(result.state.epoch, 50);
  EXPECT_TRUE(result.state.theta.isfinite().all().item<bool>()) << "the weights before the step that broke down";
}

TEST(TrainOnline, BurnInFrequencyAndTheLastEpoch) {
  Trajectory trajectory = read_trajectory("traj_fullggn_gauss");
  trajectory.options.epochs = 11;
  trajectory.options.burn_in = 4;
  trajectory.options.frequency = 4;
  const Network network = testing::make_golden_network(trajectory.golden);
  const OnlineResult result = train_online({network, trajectory.golden.likelihood, trajectory.prior, trajectory.start},
                                           trajectory.golden.data(), trajectory.options);
  std::vector<int64_t> epochs;
  for (const OnlinePass& pass : result.state.passes) epochs.push_back(pass.epoch);
  EXPECT_EQ(epochs, (std::vector<int64_t>{8, 11}));
}

TEST(TrainOnline, TheBestStateIsLookedForAfterSomeEpochs) {
  Trajectory trajectory = read_trajectory("traj_fullggn_gauss");
  trajectory.options.epochs = 12;
  trajectory.options.frequency = 2;
  trajectory.options.optimiser.learning_rate = 0.3;  // so large that the evidence goes up and down
  const auto train = [&](int64_t best_after) {
    trajectory.options.best_after = best_after;
    const Network network = testing::make_golden_network(trajectory.golden);
    network.set_flat_parameters(testing::tensor_of(trajectory.file["theta0"]));
    return train_online({network, trajectory.golden.likelihood, trajectory.prior, trajectory.start},
                        trajectory.golden.data(), trajectory.options);
  };
  for (const int64_t best_after : {0, 5, 9, 12, 100}) {
    const OnlineResult result = train(best_after);
    const OnlinePass* best = nullptr;
    for (const OnlinePass& pass : result.state.passes) {
      const bool counts = pass.epoch >= best_after || best_after > 12;  // none comes later: all count
      if (counts && (best == nullptr || pass.log_evidence > best->log_evidence)) best = &pass;
    }
    EXPECT_EQ(result.best.epoch, best->epoch) << best_after;
    EXPECT_EQ(result.best.log_evidence, best->log_evidence) << best_after;
  }
}

TEST(TrainOnline, NoHyperStepsKeepTheHyperparameters) {
  Trajectory trajectory = read_trajectory("traj_fullggn_gauss");
  trajectory.options.hyper.steps = 0;
  const Network network = testing::make_golden_network(trajectory.golden);
  const OnlineResult result = train_online({network, trajectory.golden.likelihood, trajectory.prior, trajectory.start},
                                           trajectory.golden.data(), trajectory.options);
  EXPECT_TRUE(result.best.hyperparameters.log_prior_precision.equal(trajectory.start.log_prior_precision));
  EXPECT_TRUE(std::isfinite(result.best.log_evidence));
}

TEST(TrainOnline, TheGradientNormVanishesAtAMode) {
  Trajectory trajectory = read_trajectory("traj_fullggn_gauss");
  trajectory.options.epochs = 3000;
  trajectory.options.frequency = 3000;
  trajectory.options.map.batch_size = 0;
  trajectory.options.hyper.steps = 0;
  trajectory.options.optimiser.schedule = LearningRateSchedule::cosine;
  const Network network = testing::make_golden_network(trajectory.golden);
  const OnlineResult result = train_online({network, trajectory.golden.likelihood, trajectory.prior, trajectory.start},
                                           trajectory.golden.data(), trajectory.options);
  EXPECT_LT(result.gradient_norm, 1e-3);
}

TEST(TrainOnline, GoesOnFromASavedStateBitForBit) {
  for (const char* name : {"traj_fullggn_gauss", "traj_diagef_cat_sgd"}) {
    Trajectory trajectory = read_trajectory(name);
    trajectory.options.epochs = 9;
    trajectory.options.map.shuffle = true;
    const auto train = [&](const OnlineOptions& options, const OnlineWatcher& watcher) {
      const Network network =
          testing::make_golden_network(read_trajectory(name).golden);  // always from the first weights
      return train_online({network, trajectory.golden.likelihood, trajectory.prior, trajectory.start},
                          trajectory.golden.data(), options, watcher);
    };
    const OnlineResult straight = train(trajectory.options, {});
    auto saved = std::make_shared<OnlineState>();
    train(trajectory.options, [&](const OnlineProgress& progress) {
      if (progress.epoch == 4) *saved = progress.state();
      return progress.epoch < 5;
    });
    OnlineOptions resumed = trajectory.options;
    resumed.resume = saved;
    const OnlineResult result = train(resumed, {});
    EXPECT_TRUE(result.state.theta.equal(straight.state.theta)) << name;
    EXPECT_EQ(result.state.losses, straight.state.losses);
    EXPECT_EQ(result.best.log_evidence, straight.best.log_evidence);
    EXPECT_TRUE(
        result.state.hyperparameters.log_prior_precision.equal(straight.state.hyperparameters.log_prior_precision));
  }
}

TEST(TrainOnline, StopsWhenTheEvidenceStalls) {
  Trajectory trajectory = read_trajectory("traj_fullggn_gauss");
  trajectory.options.epochs = 500;
  trajectory.options.stall_passes = 3;
  trajectory.options.stall_tolerance = 1e3;  // nothing rises that much
  const Network network = testing::make_golden_network(trajectory.golden);
  const OnlineResult result = train_online({network, trajectory.golden.likelihood, trajectory.prior, trajectory.start},
                                           trajectory.golden.data(), trajectory.options);
  EXPECT_EQ(result.state.epoch, 4);  // the first pass rises from nothing
}

// A parameter whose recognised uses are not all of them: what the first pass found out holds for those after it.
TEST(TrainOnline, WhatVerificationRefusesStaysRefused) {
  const auto weight = [](uint64_t key) {
    return (0.5 * at::randn({3, 3}, random_stream({key}), at::kDouble)).requires_grad_();
  };
  const at::Tensor w = weight(1), h = weight(2);
  const Network network({{"w", w}, {"h", h}}, [w, h](const at::Tensor& x) {
    return at::linear(at::tanh(at::linear(x, w) + at::linear(x, w.detach())), h);
  });
  const Dataset data(at::randn({9, 3}, random_stream({3}), at::kDouble), at::arange(9, at::kLong) % 3);
  const Prior prior = Prior::layerwise(network.layout());
  Hyperparameters start = default_likelihood_hyperparameters(Categorical{}, 3);
  start.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
  OnlineOptions options;
  options.epochs = 4;
  options.frequency = 2;
  options.hyper.steps = 1;
  options.optimiser.learning_rate = 0.01;
  options.laplace.curvature.structure = Structure::kronecker;
  const OnlineResult result = train_online({network, Categorical{}, prior, start}, data, options);
  ASSERT_EQ(result.state.passes.size(), 2u);
  network.set_flat_parameters(result.state.theta);
  const Hyperparameters& before = result.state.passes[0].hyperparameters;
  const LaplaceFit afresh = fit_laplace({network, Categorical{}, prior, before}, data, options.laplace);
  EXPECT_FALSE(afresh.messages.empty());
  EXPECT_NEAR(result.state.passes[1].evidences[0], evidence(afresh, before).value, 1e-9);
}

}  // namespace
}  // namespace ockham
