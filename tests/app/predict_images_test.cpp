// ockham predict, export and report on a run of images.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "ockham/data/npy.h"
#include "tests/support/image_makers.h"
#include "tests/support/run_fixture.h"
#include "tests/support/tiny_images.h"

namespace ockham::testing {
namespace {

constexpr int usage = 2, data = 3;
using nlohmann::json;
using Strings = std::vector<std::string>;

class PredictImages : public RunFixture {
 protected:
  PredictImages() {
    write_idx_directory(path("idx"), tiny_images(60, 1, 8, 1), 30, 2);
    const ToolRun fit = run_tool({"fit", path("idx"), "--out", path("run"), "--network", "mlp:8", "--epochs", "20",
                                  "--batch-size", "16", "--lr", "0.01"});
    EXPECT_EQ(fit.exit_code, 0) << fit.err;
  }
};

TEST_F(PredictImages, ARowForEachImageOfTheTestSet) {
  const ToolRun result = run_tool({"predict", path("run"), path("idx")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto rows = split_csv(result.out);
  ASSERT_EQ(rows.size(), 31u);
  EXPECT_EQ(rows[0], (Strings{"image", "class", "p_0", "p_1", "p_2"}));
  EXPECT_EQ(rows[5][0], "4");
  double sum = 0;
  for (int k = 2; k < 5; ++k) sum += std::strtod(rows[5][k].c_str(), nullptr);
  EXPECT_NEAR(sum, 1, 1e-6);
  for (const char* part : {"30 examples", "calibration error", "15 bins", "Brier"})
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;

  const json all = run_json({"predict", path("run"), path("idx"), "--set", "training"});
  EXPECT_EQ(all["examples"], 60);
  EXPECT_EQ(all["method"], "probit");
  EXPECT_GT(all["metrics"]["accuracy"], 0.9);
  const json few = run_json({"predict", path("run"), path("idx"), "--size", "7"});
  EXPECT_EQ(few["predictions"].size(), 7u);
  const json whole = run_json({"predict", path("run"), path("idx")});
  const double rounding = 1e-6;  // of float32: products of 7 rows and of 30 may sum in another order
  for (const json& one : few["predictions"])
    EXPECT_NEAR(one["p_1"], whole["predictions"][one["image"].get<size_t>()]["p_1"], rounding);
}

TEST_F(PredictImages, TheMethodsAndTheirMetrics) {
  const json map = run_json({"predict", path("run"), path("idx"), "--method", "map"});
  EXPECT_FALSE(map["metrics"].contains("accuracy_bayes"));
  EXPECT_TRUE(map["metrics"]["nll_bayes"].is_null());
  const json probit = run_json({"predict", path("run"), path("idx"), "--method", "linearised"});
  EXPECT_EQ(probit["method"], "probit");
  EXPECT_EQ(probit["metrics"]["nll"], map["metrics"]["nll"]);
  const json last = run_json({"predict", path("run"), path("idx"), "--scope", "last-layer"});
  EXPECT_EQ(last["scope"], "last-layer");
  EXPECT_NE(last["metrics"]["nll_bayes"], probit["metrics"]["nll_bayes"]);
  const json sampled = run_json({"predict", path("run"), path("idx"), "--method", "sampled", "--samples", "200"});
  EXPECT_NEAR(sampled["metrics"]["nll_bayes"], probit["metrics"]["nll_bayes"], 0.1);
}

TEST_F(PredictImages, OtherImagesAreToldApartByTheirEntropy) {
  ImageSet other = tiny_images(40, 1, 8, 9);
  other.images.fill_(90);
  write_idx_directory(path("other"), other, 0, 0);
  const json found = run_json({"predict", path("run"), path("idx"), "--ood", path("other")});
  const json& ood = found["ood"];
  EXPECT_EQ(ood["examples"], 40);
  EXPECT_GT(ood["auroc"], 0.7);
  EXPECT_GT(ood["auroc_map"], 0.7);
  EXPECT_NE(ood["score"].get<std::string>().find("entropy"), std::string::npos);
  // Images of the same kind are not told apart: a half, up to the chance of 30 against 30.
  write_idx_directory(path("same"), tiny_images(30, 1, 8, 77), 0, 0);
  const double same = run_json({"predict", path("run"), path("idx"), "--ood", path("same")})["ood"]["auroc"];
  EXPECT_NEAR(same, 0.5, 0.25);
  const ToolRun words = run_tool(
      {"predict", path("run"), path("idx"), "--ood", path("other"), "--method", "map", "--out", path("p.csv")});
  EXPECT_NE(words.err.find("ROC"), std::string::npos) << words.err;
}

TEST_F(PredictImages, ArraysWithAndWithoutLabels) {
  const ImageSet set = tiny_images(12, 1, 8, 4);
  write_npy(path("x.npy"), set.images.to(at::kLong));
  write_npy(path("y.npy"), set.labels);
  const json plain = run_json({"predict", path("run"), path("x.npy")});
  EXPECT_TRUE(plain["metrics"].is_null());
  const json scored = run_json({"predict", path("run"), "--inputs", path("x.npy"), "--targets", path("y.npy")});
  EXPECT_EQ(scored["metrics"]["examples"], 12);
  EXPECT_EQ(scored["predictions"], plain["predictions"]);
  write_npy(path("small.npy"), set.images.to(at::kFloat) / 255);
  const json strange = run_json({"predict", path("run"), path("small.npy")});
  EXPECT_NE(strange["messages"].dump().find("scaled differently"), std::string::npos);
}

/// Of a grey image [1, height, width].
std::string png_of(const at::Tensor& image) {
  const at::Tensor bytes = image.contiguous();
  const std::string values(static_cast<const char*>(bytes.data_ptr()), bytes.nbytes());
  return make_png(
      {static_cast<uint32_t>(image.size(1)), static_cast<uint32_t>(image.size(2)), PngColour::grey, 8, values, "", ""});
}

TEST_F(PredictImages, FilesByNameWithAndWithoutClasses) {
  const ImageSet images = tiny_images(4, 1, 8, 5);
  for (const char* folder : {"loose", "named", "named/0", "named/1", "other", "other/cats"})
    std::filesystem::create_directory(path(folder));
  for (int64_t i = 0; i < 4; ++i) {
    const std::string name = "image " + std::to_string(i) + ".png", bytes = png_of(images.images[i]);
    write_bytes(path("loose/" + name), bytes);
    write_bytes(path("other/cats/" + name), bytes);
    if (images.labels[i].item<int64_t>() < 2)
      write_bytes(path("named/" + std::to_string(images.labels[i].item<int64_t>()) + "/" + name), bytes);
  }
  const json loose = run_json({"predict", path("run"), path("loose")});
  ASSERT_EQ(loose["predictions"].size(), 4u);
  EXPECT_EQ(loose["predictions"][2]["image"], "image 2.png");
  EXPECT_TRUE(loose["metrics"].is_null()) << loose["metrics"];
  const ToolRun one = run_tool({"predict", path("run"), path("loose/image 2.png"), "--quiet"});
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_NE(one.out.find("\n\"image 2.png\","), std::string::npos) << one.out;
  const json named = run_json({"predict", path("run"), path("named")});
  EXPECT_EQ(named["predictions"][0]["image"], "0/image 0.png");
  EXPECT_EQ(named["metrics"]["examples"], named["predictions"].size());
  expect_refusal(data, {"'cats'", "one folder of images"}, {"predict", path("run"), path("other")});
  EXPECT_TRUE(run_json({"predict", path("run"), path("idx"), "--ood", path("other")})["ood"].contains("auroc"));
  expect_refusal(data, {"nowhere", "no such file or directory"}, {"predict", path("run"), path("nowhere")});
}

TEST_F(PredictImages, WhatDoesNotFitIsSaidInASentence) {
  write_idx_directory(path("large"), tiny_images(6, 1, 9, 1), 0, 0);
  expect_refusal(data, {"9 × 9", "8 × 8"}, {"predict", path("run"), path("large"), "--quiet"});
  expect_refusal(data, {"9 × 9", "8 × 8"}, {"predict", path("run"), path("idx"), "--ood", path("large"), "--quiet"});
  write_bytes(path("table.csv"), "a,b\n1,2\n");
  expect_refusal(data, {"table.csv", "images"}, {"predict", path("run"), path("table.csv")});
  std::filesystem::create_symlink("loop", path("loop"));
  expect_refusal(data, {"loop", "symbolic links"}, {"predict", path("run"), path("loop")});
  ImageSet unknown = tiny_images(8, 1, 8, 1);
  unknown.labels = at::arange(8, at::kLong);
  write_idx_directory(path("eight"), unknown, 0, 0);
  expect_refusal(data, {"class '3'", "training"}, {"predict", path("run"), path("eight")});
  expect_refusal(usage, {"--set test", "no test set"}, {"predict", path("run"), path("large"), "--set", "test"});
  const std::string table_run = make_run("table", make_trained({}, 5));
  expect_refusal(data, {"directory", "table"}, {"predict", table_run, path("idx")});
  expect_refusal(usage, {"--ood", "table"}, {"predict", table_run, path("table.csv"), "--ood", path("idx")});
}

TEST_F(PredictImages, ExportAndReportWorkToo) {
  const json exported = run_json({"export", path("run"), "--to", path("m.pt")});
  EXPECT_EQ(exported["input_shape"], (std::vector<int>{1, 8, 8}));
  EXPECT_EQ(exported["classes"], (Strings{"0", "1", "2"}));
  const std::string before = read_bytes(path("run") + "/report.html");
  EXPECT_EQ(run_tool({"report", path("run")}).exit_code, 0);
  EXPECT_EQ(read_bytes(path("run") + "/report.html"), before);
}

}  // namespace
}  // namespace ockham::testing
