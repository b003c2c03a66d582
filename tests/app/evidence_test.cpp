// `ockham evidence` by its contract: fields, flags and promises.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/finite_differences.h"
#include "tests/support/golden.h"
#include "tests/support/tool_fixture.h"
#include "tests/support/torchscript_builder.h"

namespace ockham::testing {
namespace {

using nlohmann::json;

class EvidenceTool : public ToolFixture {};

TEST_F(EvidenceTool, JsonHasEveryFieldOfTheContract) {
  const json result = run_json({"--structure", "kron", "--prior", "layerwise", "--prior-precision", "2"});
  for (const char* field : {"log_likelihood", "log_prior", "log_det", "log_marginal_likelihood",
                            "log_marginal_likelihood_per_example", "clipped_eigenvalues", "seconds"}) {
    ASSERT_TRUE(result.contains(field) && result.at(field).is_number()) << field;
  }
  EXPECT_EQ(result.at("schema"), 1);
  EXPECT_EQ(result.at("examples"), 12);
  EXPECT_EQ(result.at("outputs"), 3);
  EXPECT_EQ(result.at("parameters"), 27);
  EXPECT_EQ(result.at("structure"), "kron");
  EXPECT_EQ(result.at("curvature"), "ggn");
  EXPECT_EQ(result.at("groups"), json({"hidden.weight", "hidden.bias", "out.weight", "out.bias"}));
  EXPECT_EQ(result.at("gradient").at("log_prior_precision").size(), 4u);
  EXPECT_TRUE(result.at("gradient").at("log_noise").is_null());
  EXPECT_TRUE(result.at("gradient").at("log_temperature").is_number());
  EXPECT_TRUE(result.at("messages").is_array());
  EXPECT_FALSE(result.contains("correction"));
  EXPECT_FALSE(result.contains("predictive"));
  const double sum = result.at("log_likelihood").get<double>() + result.at("log_prior").get<double>() +
                     27 * 0.5 * std::log(2 * M_PI) - 0.5 * result.at("log_det").get<double>();
  EXPECT_NEAR(result.at("log_marginal_likelihood").get<double>(), sum, 1e-10);
  EXPECT_NEAR(result.at("log_marginal_likelihood_per_example").get<double>(), sum / 12, 1e-10);
}

TEST_F(EvidenceTool, CheckPrintsItsVerdict) {
  const json result = run_json({"--structure", "full", "--check"});
  std::vector<std::string> names;
  bool all_hold = true;
  for (const json& check : result.at("checks")) {
    names.push_back(check.at("name"));
    ASSERT_FALSE(check.contains("not_checked")) << check;
    const bool holds = check.at("holds").get<bool>();
    EXPECT_TRUE(holds || names.back() == "mode") << check;
    all_hold = all_hold && holds;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"floating type", "batch order", "other space", "gradient", "mode"}));
  EXPECT_EQ(result.at("checks_hold"), all_hold);
  const ToolRun table = run({"--structure", "full", "--check"});
  EXPECT_NE(table.out.find(all_hold ? "checks: all hold" : "checks: not all hold"), std::string::npos) << table.out;
  for (const std::string& name : names) EXPECT_NE(table.out.find("  " + name), std::string::npos) << table.out;
}

TEST_F(EvidenceTool, GaussianHasNoiseAndNoTemperature) {
  const json one =
      run_json({"--likelihood", "gaussian", "--targets", path("r.npy"), "--noise", "0.5", "--structure", "full"});
  EXPECT_TRUE(one.at("gradient").at("log_noise").is_number());
  EXPECT_TRUE(one.at("gradient").at("log_temperature").is_null());
  const json each = run_json(
      {"--likelihood", "gaussian", "--targets", path("r.npy"), "--noise", "0.5,0.5,0.5", "--structure", "full"});
  ASSERT_EQ(each.at("gradient").at("log_noise").size(), 3u);
  EXPECT_NEAR(each.at("log_marginal_likelihood").get<double>(), one.at("log_marginal_likelihood").get<double>(), 1e-9);
  EXPECT_NEAR(tensor_of(each.at("gradient").at("log_noise")).sum().item<double>(),
              one.at("gradient").at("log_noise").get<double>(), 1e-8);
}

TEST_F(EvidenceTool, PredictiveShapes) {
  const std::string test = write("t.npy", at::randn({5, 2}, at::kDouble));
  const json classes = run_json({"--test-inputs", test}).at("predictive");
  EXPECT_EQ(tensor_of(classes.at("f_mean")).sizes().vec(), (std::vector<int64_t>{5, 3}));
  EXPECT_EQ(tensor_of(classes.at("f_var")).sizes().vec(), (std::vector<int64_t>{5, 3, 3}));
  EXPECT_TRUE(tensor_of(classes.at("probit")).sum(1).allclose(at::ones({5}, at::kDouble)));
  EXPECT_FALSE(classes.contains("pred_var"));
  const json reals =
      run_json({"--likelihood", "gaussian", "--targets", path("r.npy"), "--noise", "2", "--test-inputs", test})
          .at("predictive");
  const at::Tensor noise = tensor_of(reals.at("pred_var")) - tensor_of(reals.at("f_var"));
  EXPECT_TRUE(noise.allclose(at::eye(3, at::kDouble).mul(4).expand({5, 3, 3})));
  EXPECT_FALSE(reals.contains("probit"));
}

TEST_F(EvidenceTool, CorrectionIsReportedAndAddedOnlyWhenAskedFor) {
  const json without = run_json({"--structure", "full"}), with = run_json({"--structure", "full", "--correction"});
  EXPECT_GT(with.at("correction").get<double>(), 0);
  EXPECT_NEAR(with.at("log_marginal_likelihood").get<double>(),
              without.at("log_marginal_likelihood").get<double>() + with.at("correction").get<double>(), 1e-9);
}

TEST_F(EvidenceTool, NamedGroupsEqualTheirLayerwiseTwin) {
  const json named = run_json({"--group", "hidden=hidden.weight,hidden.bias", "--group", "out=out.weight,out.bias",
                               "--prior-precision", "2,0.5", "--structure", "full"});
  const json twin = run_json({"--prior", "layerwise", "--prior-precision", "2,2,0.5,0.5", "--structure", "full"});
  EXPECT_EQ(named.at("groups"), json({"hidden", "out"}));
  EXPECT_NEAR(named.at("log_marginal_likelihood").get<double>(), twin.at("log_marginal_likelihood").get<double>(),
              1e-10);
  const json block = run_json(
      {"--group", "a=hidden.weight,hidden.bias,out.weight,out.bias", "--prior-precision", "2", "--structure", "block"});
  const json full = run_json({"--prior-precision", "2", "--structure", "full"});
  EXPECT_NEAR(block.at("log_det").get<double>(), full.at("log_det").get<double>(), 1e-9);
}

TEST_F(EvidenceTool, PrecisionsFromAFileAndEveryPriorKind) {
  const std::string file = write("p.npy", at::full({27}, 2.0, at::kDouble));
  const double scalar = run_json({"--prior-precision", "2", "--structure", "diag"}).at("log_marginal_likelihood");
  EXPECT_NEAR(run_json({"--prior", "diagonal", "--prior-precision", file, "--structure", "diag"})
                  .at("log_marginal_likelihood")
                  .get<double>(),
              scalar, 1e-10);
  EXPECT_NEAR(run_json({"--prior", "ard", "--prior-precision", "2", "--structure", "diag"})
                  .at("log_marginal_likelihood")
                  .get<double>(),
              scalar, 1e-10);
}

TEST_F(EvidenceTool, SameSeedSameBitsAndBatchesDoNotMatter) {
  const std::vector<std::string> flags = {"--curvature", "mc", "--mc-samples", "3", "--seed", "4"};
  const json first = run_json(flags), again = run_json(flags);
  EXPECT_EQ(first.at("log_marginal_likelihood"), again.at("log_marginal_likelihood"));
  EXPECT_NE(run_json({"--curvature", "mc", "--mc-samples", "3", "--seed", "5"}).at("log_det"), first.at("log_det"));
  EXPECT_LT(relative_mismatch(run_json({"--batch-size", "5"}).at("log_det").get<double>(),
                              run_json({}).at("log_det").get<double>()),
            1e-12);
  EXPECT_LT(relative_mismatch(run_json({"--dtype", "float32"}).at("log_det").get<double>(),
                              run_json({}).at("log_det").get<double>()),
            1e-4);
}

TEST_F(EvidenceTool, DampingAndLikelihoodWeightChangeWhatTheyShould) {
  const json plain = run_json({}), damped = run_json({"--damping"}), heavy = run_json({"--likelihood-weight", "2"});
  EXPECT_GT(damped.at("log_det").get<double>(), plain.at("log_det").get<double>());
  EXPECT_NEAR(heavy.at("log_likelihood").get<double>(), 2 * plain.at("log_likelihood").get<double>(), 1e-10);
}

TEST_F(EvidenceTool, BernoulliAndPoisson) {
  TorchScriptBuilder()
      .parameter("weight", at::randn({1, 2}, at::kDouble))
      .parameter("bias", at::zeros({1}, at::kDouble))
      .define(R"(
def forward(self, x):
    return torch.linear(x, self.weight, self.bias)
)")
      .save(path("one.pt"));
  const std::string bits = write("b.npy", at::arange(12, at::kLong).remainder(2));
  const json bernoulli = run_json(
      {"--network", path("one.pt"), "--targets", bits, "--likelihood", "bernoulli", "--test-inputs", path("x.npy")});
  EXPECT_TRUE(bernoulli.at("gradient").at("log_temperature").is_number());
  EXPECT_EQ(bernoulli.at("predictive").at("probit").at(0).size(), 2u);
  const json poisson =
      run_json({"--network", path("one.pt"), "--targets", bits, "--likelihood", "poisson", "--temperature", "2"});
  EXPECT_TRUE(poisson.at("gradient").at("log_temperature").is_null());
  EXPECT_NE(poisson.at("messages").dump().find("--temperature"), std::string::npos);
}

TEST_F(EvidenceTool, IntegerInputsStayIntegersForAnEmbedding) {
  TorchScriptBuilder()
      .parameter("table", at::randn({5, 4}, at::kDouble))
      .parameter("out", at::randn({3, 8}, at::kDouble))
      .define(R"(
def forward(self, x):
    return torch.linear(torch.flatten(torch.embedding(self.table, x), 1), self.out)
)")
      .save(path("words.pt"));
  const std::string words = write("words.npy", at::arange(24, at::kLong).remainder(5).view({12, 2}));
  const json result = run_json({"--network", path("words.pt"), "--inputs", words, "--structure", "full"});
  EXPECT_EQ(result.at("parameters"), 44);
  EXPECT_EQ(result.at("messages").size(), 0u) << result.at("messages");
  // A network of linear layers takes no integers: they are converted, with a word.
  const json converted = run_json({"--inputs", words});
  EXPECT_NE(converted.at("messages").dump().find("converted"), std::string::npos);
}

TEST_F(EvidenceTool, ATableForPeople) {
  const ToolRun result = run({"--structure", "full", "--prior", "layerwise"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* part :
       {"log marginal likelihood", "log prior", "log determinant", "hidden.weight", "temperature", "12 examples"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << result.out;
  }
  EXPECT_EQ(result.out.find('\033'), std::string::npos) << "colours in a file";
}

}  // namespace
}  // namespace ockham::testing
