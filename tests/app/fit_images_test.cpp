// ockham fit on images: from a directory or arrays to a run, and that subsets, presets and interruptions do what they
// say.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <map>
#include <thread>

#include "ockham/data/npy.h"
#include "ockham/predict/trained_model.h"
#include "tests/support/run_fixture.h"
#include "tests/support/tiny_images.h"

namespace ockham::testing {
namespace {

using nlohmann::json;
using Strings = std::vector<std::string>;

class FitImages : public RunFixture {
 protected:
  std::string idx(int64_t images = 60, int64_t test_images = 30) const {
    write_idx_directory(path("idx"), tiny_images(images, 1, 8, 1), test_images, 2);
    return path("idx");
  }
  Strings short_fit(const std::string& data, const std::string& run, const Strings& more = {}) const {
    Strings arguments = {"fit", data, "--out", path(run), "--network", "mlp:8", "--epochs", "6", "--batch-size", "16"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  bool says(const json& summary, const std::string& part) const {
    for (const json& message : summary["messages"])
      if (message.get<std::string>().find(part) != std::string::npos) return true;
    return false;
  }
  static void wait_for(RunningTool& tool, const std::string& file) {
    for (int i = 0; i < 1200 && tool.running() && !std::filesystem::exists(file); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
};

TEST_F(FitImages, AnIdxDirectoryWithItsOwnTestSet) {
  const json summary = run_json(short_fit(idx(), "run", {"--network", "linear"}));
  EXPECT_EQ(summary["task"], "classification");
  EXPECT_EQ(summary["data"], "idx");
  EXPECT_EQ(summary["examples"], 60);
  EXPECT_EQ(summary["test_examples"], 30);
  EXPECT_EQ(summary["input_shape"], (std::vector<int>{1, 8, 8}));
  EXPECT_EQ(summary["features"], 64);
  EXPECT_EQ(summary["class_names"], (Strings{"0", "1", "2"}));
  EXPECT_TRUE(says(summary, "IDX layout"));
  EXPECT_TRUE(says(summary, "--no-test"));
  const json& best = summary["candidates"][0];
  EXPECT_EQ(best["structure"], "kron");
  EXPECT_GT(best["test"]["accuracy"], 0.6);
  for (const char* name : {"log_likelihood", "nll", "nll_bayes", "accuracy", "ece", "brier", "ece_bayes"})
    EXPECT_TRUE(best["test"][name].is_number()) << name;
  EXPECT_EQ(best["test"]["ece_bins"], 15);

  const TrainedModel trained = load_trained_model(path("run") + "/model.safetensors");
  ASSERT_TRUE(trained.images.has_value());
  EXPECT_NEAR(trained.images->mean[0], tiny_images(60, 1, 8, 1).images.to(at::kDouble).mean().item<double>() / 255,
              1e-12);
  const std::string report = read_bytes(path("run") + "/report.html");
  EXPECT_NE(report.find("data:image/png;base64,"), std::string::npos);
  EXPECT_NE(report.find("Surest mistakes"), std::string::npos);

  const json again = run_json({"evidence", "--from-run", path("run")});
  EXPECT_NEAR(again["log_marginal_likelihood"], best["log_marginal_likelihood"], 1e-3);
}

TEST_F(FitImages, SubsetsAreDrawnByTheSeedAndTheTestSetCanBeLeft) {
  const json few = run_json(short_fit(idx(), "few", {"--train-size", "40", "--test-size", "10"}));
  EXPECT_EQ(few["examples"], 40);
  EXPECT_EQ(few["test_examples"], 10);
  EXPECT_TRUE(says(few, "40 of its 60 images, drawn by --seed 0"));
  const json other = run_json(short_fit(idx(), "other", {"--train-size", "40", "--no-test", "--seed", "1"}));
  EXPECT_EQ(other["test_examples"], 0);
  EXPECT_FALSE(other["candidates"][0].contains("test"));
  write_idx_directory(path("elsewhere"), tiny_images(21, 1, 8, 5), 0, 0);
  const json third = run_json(short_fit(idx(), "third", {"--test", path("elsewhere")}));
  EXPECT_EQ(third["test_examples"], 21);
  EXPECT_TRUE(says(third, "own test set of 30 images is not used, but --test"));
  const json fraction = run_json(short_fit(idx(), "fourth", {"--test-fraction", "0.25"}));
  EXPECT_EQ(fraction["test_examples"], 15);
  EXPECT_TRUE(
      says(fraction, "own test set of 30 images is not used, but 25 % of its training images (--test-fraction"));
}

TEST_F(FitImages, WhatIsSoonDoneIsTrainedFirst) {
  // More weights, but fewer multiplications.
  const json summary = run_json(short_fit(idx(), "run", {"--network", "cnn:width=3,depth=2", "--workers", "1"}));
  ASSERT_EQ(summary["candidates"].size(), 2u);
  std::map<std::string, int64_t> weights;
  for (const json& one : summary["candidates"]) weights[one["network"]] = one["parameters"];
  ASSERT_GT(weights["mlp:8"], weights["cnn:width=3,depth=2"]);
  const std::string metrics = read_bytes(path("run") + "/metrics.jsonl");
  EXPECT_EQ(json::parse(metrics.substr(0, metrics.find('\n')))["network"], "mlp:8");
}

TEST_F(FitImages, AfterTheTimeLimitOnlyTheNetworksAloneAreScored) {
  const json summary =
      run_json({"fit", idx(), "--out", path("run"), "--network", "mlp:8", "--network", "linear", "--epochs", "100000",
                "--batch-size", "16", "--frequency", "20", "--workers", "2", "--time-limit", "2"});
  EXPECT_EQ(summary["complete"], false);
  EXPECT_NE(summary["warnings"].dump().find("time limit was over"), std::string::npos) << summary["warnings"];
  EXPECT_NE(read_bytes(path("run") + "/run.json").find("time limit was over"), std::string::npos);
  ASSERT_EQ(summary["candidates"].size(), 2u);
  for (const json& one : summary["candidates"]) {
    EXPECT_TRUE(one["test"]["nll_bayes"].is_null());
    EXPECT_TRUE(one["test"]["accuracy"].is_number() && one["train"]["nll"].is_number());
    const double sum = one["log_likelihood"].get<double>() + one["log_prior"].get<double>() +
                       0.5 * one["parameters"].get<double>() * std::log(2 * M_PI) - 0.5 * one["log_det"].get<double>();
    const double evidence = one["log_marginal_likelihood"];
    EXPECT_NEAR(sum, evidence, 1e-3 * std::abs(evidence));
  }
  EXPECT_EQ(run_tool({"predict", path("run"), path("idx")}).exit_code, 0);
  EXPECT_NE(read_bytes(path("run") + "/report.html").find("data:image/png;base64,"), std::string::npos);
}

TEST_F(FitImages, ThePaperNetworkOnCifarRecords) {
  write_cifar_directory(path("cifar"), 24, 12, 3);
  const json summary = run_json({"fit", path("cifar"), "--out", path("run"), "--network", "cnn:3c3d", "--epochs", "1",
                                 "--batch-size", "12", "--structure", "diag", "--curvature", "ef"});
  EXPECT_EQ(summary["candidates"][0]["parameters"], 895210);
  EXPECT_EQ(summary["input_shape"], (std::vector<int>{3, 32, 32}));
  EXPECT_EQ(summary["classes"], 10);
}

TEST_F(FitImages, ArraysOfBytesAndOfOtherNumbersGiveTheSame) {
  const ImageSet set = tiny_images(60, 1, 8, 1);
  write_npy(path("bytes.npy"), set.images.to(at::kLong));
  write_npy(path("floats.npy"), set.images.to(at::kFloat) / 50 - 3);
  write_npy(path("labels.npy"), set.labels * 2 + 5);  // any whole numbers
  const auto fit = [&](const char* inputs, const char* run) {
    return run_json({"fit", "--inputs", path(inputs), "--targets", path("labels.npy"), "--out", path(run), "--network",
                     "mlp:8", "--epochs", "6", "--dtype", "float64"});
  };
  const json bytes = fit("bytes.npy", "one"), floats = fit("floats.npy", "two");
  EXPECT_EQ(bytes["class_names"], (Strings{"5", "7", "9"}));
  const double first = bytes["candidates"][0]["log_marginal_likelihood"],
               second = floats["candidates"][0]["log_marginal_likelihood"];
  EXPECT_NEAR(first, second, 1e-4 * std::abs(first));
}

TEST_F(FitImages, APresetFillsWhatIsNotGivenAndTheConfigurationRepeatsIt) {
  const json summary =
      run_json(short_fit(idx(), "run", {"--preset", "paper-images", "--hyper-steps", "7", "--augment", "crop-flip"}));
  EXPECT_TRUE(says(summary, "preset: paper-images is"));
  const json& settings = summary["settings"];
  EXPECT_EQ(settings["epochs"], "6");
  EXPECT_EQ(settings["hyper-steps"], "7");
  EXPECT_EQ(settings["hyper-lr"], "1");
  EXPECT_EQ(settings["frequency"], "10");
  EXPECT_EQ(settings["optimizer"], "adam");
  EXPECT_EQ(settings["lr-schedule"], "step");
  EXPECT_EQ(settings["kron-approx"], "paper");
  EXPECT_EQ(settings["likelihood-weight"], "5");
  EXPECT_EQ(settings["augment"], "crop-flip");
  json again = run_json({"fit", "--config", path("run") + "/config.toml", "--out", path("again")}), first = summary;
  for (json* run : {&first, &again}) run->erase("messages");  // nothing is left to fill or to choose
  EXPECT_EQ(without_times(again), without_times(first));
}

TEST_F(FitImages, AugmentationChangesTrainingAndHasItsWeight) {
  const json plain = run_json(short_fit(idx(), "plain"));
  const json flipped = run_json(short_fit(idx(), "flipped", {"--augment", "flip", "--likelihood-weight", "1"}));
  EXPECT_EQ(plain["settings"]["likelihood-weight"], "1");
  EXPECT_NE(plain["candidates"][0]["log_marginal_likelihood"], flipped["candidates"][0]["log_marginal_likelihood"]);
  EXPECT_EQ(run_json(short_fit(idx(), "weighted", {"--augment", "crop"}))["settings"]["likelihood-weight"], "5");
}

TEST_F(FitImages, InterruptedWithAugmentationItResumesToTheSameNumbers) {
  const Strings flags = {
      "--network", "mlp:32",    "--epochs",      "600", "--batch-size",          "16", "--frequency", "100",
      "--augment", "crop-flip", "--hyper-steps", "5",   "--checkpoint-interval", "0.1"};
  Strings undisturbed = {"fit", idx(), "--out", path("whole")}, disturbed = {"fit", idx(), "--out", path("parts")};
  undisturbed.insert(undisturbed.end(), flags.begin(), flags.end());
  disturbed.insert(disturbed.end(), flags.begin(), flags.end());
  const json whole = run_json(undisturbed);
  RunningTool tool(disturbed);
  wait_for(tool, path("parts") + "/checkpoint/candidate-1-restart-1.safetensors");
  tool.send(SIGINT);
  const ToolRun interrupted = tool.wait();
  ASSERT_EQ(interrupted.exit_code, 130) << interrupted.err;
  EXPECT_NE(interrupted.err.find("--resume"), std::string::npos) << interrupted.err;
  disturbed.push_back("--resume");
  EXPECT_EQ(without_times(run_json(disturbed)), without_times(whole));
}

TEST_F(FitImages, ALongEpochIsLeftAtOnceAndDoneAgain) {
  write_cifar_directory(path("cifar"), 96, 0, 3);
  const Strings flags = {"--network",   "cnn:3c3d", "--epochs",    "2",  "--batch-size", "2",
                         "--structure", "diag",     "--curvature", "ef", "--augment",    "flip"};
  Strings undisturbed = {"fit", path("cifar"), "--out", path("whole")},
          disturbed = {"fit", path("cifar"), "--out", path("parts")};
  undisturbed.insert(undisturbed.end(), flags.begin(), flags.end());
  disturbed.insert(disturbed.end(), flags.begin(), flags.end());
  const json whole = run_json(undisturbed);
  RunningTool tool(disturbed);
  wait_for(tool, path("parts") + "/format.json");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  tool.send(SIGINT);
  const ToolRun interrupted = tool.wait();
  ASSERT_EQ(interrupted.exit_code, 130) << interrupted.err;
  EXPECT_NE(interrupted.err.find("--resume"), std::string::npos) << interrupted.err;
  EXPECT_FALSE(std::filesystem::exists(path("parts") + "/run.json"));
  disturbed.push_back("--resume");
  EXPECT_EQ(without_times(run_json(disturbed)), without_times(whole));
}

}  // namespace
}  // namespace ockham::testing
