// ockham predict on runs that the library made: what it prints is what the library predicts.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "ockham/data/npy.h"
#include "ockham/predict/scores.h"
#include "tests/support/run_fixture.h"

namespace ockham::testing {
namespace {

using Strings = std::vector<std::string>;

class Predict : public RunFixture {};

double number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

TEST_F(Predict, ARegressionInTheTargetsOwnUnits) {
  const TrainedModel trained = make_trained({}, 20);
  const std::string run = make_run("run", trained);
  const CsvTable table = trained_table(Gaussian{}, 12, 9);
  const std::string data = write_table("new.csv", table);
  const RegressionTable expected = predict_table(trained, encode_inputs(trained.encoding, table)).regression;

  const ToolRun result = run_tool({"predict", run, data});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto rows = split_csv(result.out);
  ASSERT_EQ(rows.size(), 13u);
  EXPECT_EQ(rows[0], (Strings{"mean", "sd", "sd_epistemic", "sd_noise", "lower95", "upper95"}));
  for (int64_t n = 0; n < 12; ++n) {
    const double mean = expected.mean[n][0].item<double>();
    EXPECT_NEAR(number(rows[n + 1][0]), mean, 1e-4 * std::abs(mean));
    EXPECT_NEAR(number(rows[n + 1][1]), expected.sd[n][0].item<double>(), 1e-3);
    EXPECT_NEAR(number(rows[n + 1][4]), expected.lower95[n][0].item<double>(), 1e-3 * std::abs(mean));
  }
  for (const char* part : {"12 examples", "squared error", "95 %"})
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;

  const auto json = run_json({"predict", run, data});
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["task"], "regression");
  EXPECT_EQ(json["method"], "linearised");
  EXPECT_EQ(json["examples"], 12);
  EXPECT_EQ(json["predictions"].size(), 12u);
  EXPECT_EQ(json["predictions"][3]["mean"].get<float>(), static_cast<float>(number(rows[4][0])));
  const PredictiveScores scores =
      score(trained, Dataset(encode_inputs(trained.encoding, table), encode_targets(trained.encoding, table)));
  EXPECT_NEAR(json["metrics"]["nll"].get<double>(), scores.nll, 1e-4);
  EXPECT_NEAR(json["metrics"]["nll_bayes"].get<double>(), scores.nll_bayes, 1e-4);
  EXPECT_NEAR(json["metrics"]["rmse"].get<double>(), *scores.rmse, 1e-3);
  EXPECT_FALSE(json["metrics"].contains("accuracy"));

  const auto map = run_json({"predict", run, data, "--method", "map"});
  EXPECT_EQ(map["predictions"][0]["sd_epistemic"], 0);
  EXPECT_EQ(map["predictions"][0]["sd"], map["predictions"][0]["sd_noise"]);
}

/// Digits from the first that is not 0.
size_t significant_digits(const std::string& text) {
  size_t digits = 0;
  for (const char letter : text.substr(0, text.find('e')))
    if (std::isdigit(static_cast<unsigned char>(letter)) && (digits > 0 || letter != '0')) ++digits;
  return digits;
}

TEST_F(Predict, NumbersHaveTheDigitsThatTheNetworkGives) {
  const std::string data = write_table("new.csv", trained_table(Gaussian{}, 12, 9));
  const Strings names = {"mean", "sd", "sd_epistemic", "sd_noise", "lower95", "upper95"};
  const auto digits = [&](const std::string& run, double tolerance, double scale = INFINITY) {
    const auto rows = split_csv(run_tool({"predict", run, data}).out);
    const auto json = run_json({"predict", run, data});
    size_t most = 0;
    for (size_t n = 0; n + 1 < rows.size(); ++n) {
      for (size_t i = 0; i < names.size(); ++i) {
        const double exact = json["predictions"][n][names[i]];
        EXPECT_NEAR(number(rows[n + 1][i]), exact, tolerance * std::min(std::abs(exact), scale)) << names[i];
        most = std::max(most, significant_digits(rows[n + 1][i]));
      }
    }
    return most;
  };
  EXPECT_LE(digits(make_run("single", make_trained({})), 1.2e-7), 9u);
  TrainedCase wanted;
  wanted.dtype = at::kDouble;
  EXPECT_GE(digits(make_run("double", make_trained(wanted)), 0), 15u);
  // Far larger than its spread: seconds since 1970.
  TrainedModel seconds = make_trained({});
  seconds.encoding.targets[0].mean = 1.7e9;
  EXPECT_LE(digits(make_run("seconds", seconds), 1.2e-7, seconds.encoding.targets[0].sd), 17u);
}

TEST_F(Predict, SeveralTargetsHaveTheirNames) {
  TrainedCase wanted;
  wanted.likelihood = Gaussian{true};
  const std::string run = make_run("run", make_trained(wanted));
  const ToolRun result = run_tool({"predict", run, write_table("new.csv", trained_table(Gaussian{true}, 3, 9))});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto rows = split_csv(result.out);
  ASSERT_EQ(rows[0].size(), 12u);
  EXPECT_EQ(rows[0][0], "price_mean");
  EXPECT_EQ(rows[0][11], "weight_upper95");
}

TEST_F(Predict, ClassesAndTheirProbabilities) {
  TrainedCase wanted;
  wanted.likelihood = Categorical{};
  wanted.structure = Structure::kronecker;
  const std::string run = make_run("run", make_trained(wanted, 20));
  const std::string data = write_table("new.csv", trained_table(Categorical{}, 20, 9));
  const ToolRun result = run_tool({"predict", run, data, "--out", path("p.csv")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  const auto rows = split_csv(read_bytes(path("p.csv")));
  ASSERT_EQ(rows.size(), 21u);
  EXPECT_EQ(rows[0], (Strings{"class", "p_a", "p_b", "p_c"}));
  for (size_t n = 1; n < rows.size(); ++n) {
    const Strings names = {"a", "b", "c"};
    double sum = 0, best = 0;
    std::string likeliest;
    for (size_t c = 0; c < 3; ++c) {
      sum += number(rows[n][c + 1]);
      if (number(rows[n][c + 1]) > best) best = number(rows[n][c + 1]), likeliest = names[c];
    }
    EXPECT_NEAR(sum, 1, 2e-7);
    EXPECT_EQ(rows[n][0], likeliest);
  }
  const auto probit = run_json({"predict", run, data});
  EXPECT_EQ(probit["method"], "probit");
  EXPECT_EQ(run_json({"predict", run, data, "--method", "linearised"})["predictions"], probit["predictions"]);
  const auto sampled = run_json({"predict", run, data, "--method", "sampled", "--samples", "2000", "--seed", "4"});
  EXPECT_EQ(sampled["samples"], 2000);
  EXPECT_NE(sampled["predictions"], probit["predictions"]);
  EXPECT_EQ(sampled["predictions"],
            run_json({"predict", run, data, "--method", "sampled", "--samples", "2000", "--seed", "4"})["predictions"]);
  for (const char* name : {"accuracy", "ece", "brier", "nll", "nll_bayes"})
    EXPECT_TRUE(probit["metrics"].contains(name)) << name;
}

TEST_F(Predict, TablesAsPeopleHaveThem) {
  const std::string run = make_run("run", make_trained({}));
  const std::string plain = "width,colour,height\n30,red,1000\n25,blue,900\n";
  const auto expected = run_json({"predict", run, write_text("plain.csv", plain)});
  EXPECT_TRUE(expected["metrics"].is_null());
  const auto same = [&](const std::string& file) {
    EXPECT_EQ(run_json({"predict", run, file})["predictions"], expected["predictions"]) << file;
  };
  same(write_text("order.csv", "height,width,colour\n1000,30,red\n900,25,blue\n"));
  same(write_text("semicolon.csv", "width;colour;height\n30;red;1000\n25;blue;900\n"));
  same(write_text("extra.csv", "id,width,colour,height\nu,30,red,1000\nv,25,blue,900\n"));
  const ToolRun extra = run_tool({"predict", run, path("extra.csv")});
  EXPECT_NE(extra.err.find("'id'"), std::string::npos) << extra.err;
  EXPECT_EQ(run_tool({"predict", run, path("extra.csv"), "--quiet"}).err, "");
  gzFile packed = gzopen(path("packed.csv.gz").c_str(), "wb");
  gzwrite(packed, plain.data(), static_cast<unsigned>(plain.size()));
  gzclose(packed);
  same(path("packed.csv.gz"));
}

TEST_F(Predict, RowsWithoutATargetArePredictedAndNotScored) {
  const std::string run = make_run("run", make_trained({}));
  const std::string some = "width,colour,height,price\n30,red,1000,500\n25,blue,900,\n20,green,800,520\n";
  const auto json = run_json({"predict", run, write_text("some.csv", some)});
  EXPECT_EQ(json["predictions"].size(), 3u);
  EXPECT_EQ(json["metrics"]["examples"], 2);
  const std::string none = "width,colour,height,price\n30,red,1000,\n25,blue,900,\n";
  EXPECT_TRUE(run_json({"predict", run, write_text("none.csv", none)})["metrics"].is_null());
}

TEST_F(Predict, ArraysByPosition) {
  TrainedModel trained = make_trained({});
  // The colour as a number, which an array can hold.
  trained.encoding.inputs[1].levels = {"0", "1", "2"};
  const std::string run = make_run("run", trained);
  const at::Tensor inputs = at::tensor({30.0, 2.0, 1000.0, 25.5, 0.0, 900.25}, at::kDouble).view({2, 3});
  write_npy(path("x.npy"), inputs);
  write_npy(path("y.npy"), at::tensor({500.0, 480.0}, at::kDouble));
  const auto arrays = run_json({"predict", run, "--inputs", path("x.npy"), "--targets", path("y.npy")});
  const auto table =
      run_json({"predict", run, write_text("t.csv", "width,colour,height,price\n30,2,1000,500\n25.5,0,900.25,480\n")});
  EXPECT_EQ(arrays["predictions"], table["predictions"]);
  EXPECT_EQ(arrays["metrics"], table["metrics"]);
}

}  // namespace
}  // namespace ockham::testing
