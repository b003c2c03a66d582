#include "experiments/image_training.h"

#include <gtest/gtest.h>

namespace ockham::paper {
namespace {

TEST(ImageTraining, TheScaleIsThePapersUnlessTheCommandLineSaysElse) {
  Settings settings;
  EXPECT_EQ(image_scale(settings, 300, 5).epochs, 300);
  EXPECT_EQ(image_scale(settings, 300, 5).train_size, 0);
  EXPECT_TRUE(image_scale(settings, 300, 5).full);
  settings.quick = true;
  EXPECT_EQ(image_scale(settings, 300, 5).train_size, 500);
  EXPECT_EQ(image_scale(settings, 300, 5).seeds, 1);
  settings.epochs = 7;
  settings.train_size = 900;
  settings.splits = 2;
  const ImageScale scale = image_scale(settings, 300, 5);
  EXPECT_EQ(scale.epochs, 7);
  EXPECT_EQ(scale.train_size, 900);
  EXPECT_EQ(scale.seeds, 2);
  EXPECT_FALSE(scale.full);
  EXPECT_EQ(scale.test_size, 500);
  settings.quick = false;
  EXPECT_EQ(image_scale(settings, 300, 5).test_size, 1800);
  settings.train_size = 10;
  EXPECT_EQ(image_scale(settings, 300, 5).test_size, 1000);
  settings.train_size = 6000;
  EXPECT_EQ(image_scale(settings, 300, 5).test_size, 0) << "all";
}

TEST(ImageTraining, ScalesHaveTheirOwnNamesAndBurnIn) {
  const ImageScale full{300, 5, 0, 0, true, false}, small{40, 1, 2000, 0, false, false},
      quick{3, 1, 500, 500, false, true};
  EXPECT_EQ(scale_word(full), "all-e300");
  EXPECT_EQ(scale_word(small), "n2000-e40");
  EXPECT_EQ(scale_word(quick), "quick-n500-e3");
  EXPECT_EQ(burn_in_for(full), 0);
  EXPECT_EQ(burn_in_for(small), 6);
  EXPECT_EQ(batch_for(full), 128);
  EXPECT_EQ(batch_for(small), 32);
  EXPECT_EQ(resnet_for(full, 20), "resnet:depth=20,width=16");
  EXPECT_EQ(resnet_for(small, 32), "resnet:depth=32,width=8");
  EXPECT_EQ(paper_training("cifar-10", "resnet:depth=8", ImageMethod::kron, full).learning_rate, 0.1);
  EXPECT_EQ(paper_training("cifar-10", "resnet:depth=8", ImageMethod::kron, small).learning_rate, 0.025);
  EXPECT_EQ(paper_training("mnist", "mlp:9", ImageMethod::kron, small).burn_in, 6);
}

TEST(ImageTraining, PassesAreThePapersOrAtLeastEight) {
  EXPECT_EQ(frequency_for(300, 10), 10);
  EXPECT_EQ(frequency_for(40, 10), 5);
  EXPECT_EQ(frequency_for(250, 5), 5);
  EXPECT_EQ(frequency_for(3, 10), 1);
}

TEST(ImageTraining, TheSettingsFollowThePaper) {
  const ImageScale scale{300, 5, 0, 0, true, false};
  const OnlineOptions dense =
      online_options(paper_training("mnist", "mlp:1024-512-256-128", ImageMethod::kron, scale), 0);
  EXPECT_EQ(dense.optimiser.kind, OptimiserKind::adam);
  EXPECT_EQ(dense.frequency, 10);
  EXPECT_EQ(dense.hyper.steps, 100);
  EXPECT_EQ(dense.hyper.step_size, 1);
  EXPECT_EQ(dense.laplace.curvature.structure, Structure::kronecker);
  EXPECT_EQ(dense.laplace.curvature.kronecker_rule, KroneckerRule::paper);
  EXPECT_FALSE(dense.laplace.damping);
  EXPECT_EQ(learning_rate_at(dense.optimiser, 149, 300), 1e-3);
  EXPECT_NEAR(learning_rate_at(dense.optimiser, 150, 300), 1e-4, 1e-12);
  EXPECT_NEAR(learning_rate_at(dense.optimiser, 225, 300), 1e-5, 1e-12);
  EXPECT_NEAR(learning_rate_at(dense.optimiser, 275, 300), 1e-6, 1e-12);

  const OnlineOptions residual =
      online_options(paper_training("cifar-10", "resnet:depth=20", ImageMethod::diagonal_ef, scale), 0);
  EXPECT_EQ(residual.optimiser.kind, OptimiserKind::sgd);
  EXPECT_EQ(residual.optimiser.learning_rate, 0.1);
  EXPECT_EQ(residual.laplace.curvature.structure, Structure::diagonal);
  EXPECT_EQ(residual.laplace.curvature.kind, CurvatureKind::empirical_fisher);
  EXPECT_TRUE(online_options(paper_training("mnist", "mlp:9", ImageMethod::kron_damped, scale), 0).laplace.damping);

  const OnlineOptions decay = online_options(paper_training("mnist", "mlp:9", ImageMethod::weight_decay, scale), 0);
  EXPECT_EQ(decay.hyper.steps, 0);
  EXPECT_EQ(decay.best_after, 300) << "it has no evidence to choose a state by";
}

TEST(ImageTraining, EverySettingIsInTheCellsSettings) {
  const ImageTraining usual = paper_training("mnist", "mlp:9", ImageMethod::kron, {40, 1, 100, 50, false, false});
  const auto changes = [&](auto change) {
    ImageTraining changed = usual;
    change(changed);
    return to_json(changed) != to_json(usual);
  };
  EXPECT_TRUE(changes([](ImageTraining& t) { t.set = "cifar-10"; }));
  EXPECT_TRUE(changes([](ImageTraining& t) { t.network = "mlp:8"; }));
  EXPECT_TRUE(changes([](ImageTraining& t) { t.train_size = 99; }));
  EXPECT_TRUE(changes([](ImageTraining& t) { t.test_size = 99; }));
  EXPECT_TRUE(changes([](ImageTraining& t) { t.seed = 99; }));
  EXPECT_TRUE(changes([](ImageTraining& t) { t.method = ImageMethod::diagonal_ggn; }));
  EXPECT_TRUE(changes([](ImageTraining& t) { t.augment = true; }));
  EXPECT_TRUE(changes([](ImageTraining& t) { t.likelihood_weight = 5; }));
  EXPECT_TRUE(changes([](ImageTraining& t) { t.epochs = 41; }));
  EXPECT_TRUE(changes([](ImageTraining& t) { t.frequency = 1; }));
  EXPECT_TRUE(changes([](ImageTraining& t) { t.steps = 1; }));
  EXPECT_TRUE(changes([](ImageTraining& t) { t.burn_in = 1; }));
  EXPECT_TRUE(changes([](ImageTraining& t) { t.step_size = 0.5; }));
  EXPECT_TRUE(changes([](ImageTraining& t) { t.best_after = 1; }));
  EXPECT_TRUE(changes([](ImageTraining& t) { t.optimiser = OptimiserKind::sgd; }));
  EXPECT_TRUE(changes([](ImageTraining& t) { t.learning_rate = 0.5; }));
  EXPECT_TRUE(changes([](ImageTraining& t) { t.linearised = 5; }));
  EXPECT_TRUE(changes([](ImageTraining& t) { t.other = "svhn"; }));
  EXPECT_TRUE(changes([](ImageTraining& t) { t.curve_images = 5; }));
}

TEST(ImageTraining, SeedsAreOfTheRunAndTheirNumber) {
  Settings settings;
  EXPECT_EQ(image_seed(settings, 0), image_seed(settings, 0));
  EXPECT_NE(image_seed(settings, 0), image_seed(settings, 1));
  settings.seed = 1;
  EXPECT_NE(image_seed(settings, 0), image_seed(Settings{}, 0));
}

}  // namespace
}  // namespace ockham::paper
