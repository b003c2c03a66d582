// The golden cases through `ockham evidence` on TorchScript exports. A process costs half a second: a selection that
// covers every file, structure, curvature and rule runs by default, everything with OCKHAM_FULL_GOLDEN=1.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "ockham/data/npy.h"
#include "tests/support/finite_differences.h"
#include "tests/support/golden.h"
#include "tests/support/run_tool.h"
#include "tests/support/temporary_directory.h"

namespace ockham::testing {
namespace {

using nlohmann::json;

constexpr double tolerance = 1e-9;

class GoldenTool : public ::testing::TestWithParam<size_t> {};

std::string word_of(const CurvatureOptions& options) {
  return options.structure == Structure::full ? "full" : options.structure == Structure::diagonal ? "diag" : "kron";
}

std::vector<std::string> flags_of(const GoldenCase& golden, const GoldenResult& result,
                                  const TemporaryDirectory& directory) {
  std::vector<std::string> precisions;
  for (int64_t i = 0; i < result.log_prior_precision.numel(); ++i) {
    precisions.push_back(fmt::format("{:.17g}", std::exp(result.log_prior_precision[i].item<double>())));
  }
  const bool gaussian = std::holds_alternative<Gaussian>(golden.likelihood);
  const auto rule = result.curvature.kronecker_rule;
  std::vector<std::string> flags = {"evidence",
                                    "--json",
                                    "--network",
                                    directory.path("net.pt"),
                                    "--inputs",
                                    directory.path("x.npy"),
                                    "--targets",
                                    directory.path("y.npy"),
                                    "--test-inputs",
                                    directory.path("t.npy"),
                                    "--likelihood",
                                    gaussian ? "gaussian" : "categorical",
                                    "--structure",
                                    word_of(result.curvature),
                                    "--curvature",
                                    result.curvature.kind == CurvatureKind::empirical_fisher ? "ef" : "ggn",
                                    "--kron-approx",
                                    rule == KroneckerRule::paper    ? "paper"
                                    : rule == KroneckerRule::reduce ? "reduce"
                                                                    : "expand",
                                    "--prior",
                                    result.prior,
                                    "--prior-precision",
                                    fmt::format("{}", fmt::join(precisions, ",")),
                                    "--likelihood-weight",
                                    fmt::format("{:.17g}", golden.likelihood_weight),
                                    "--batch-size",
                                    "7"};
  if (gaussian) flags.insert(flags.end(), {"--noise", fmt::format("{:.17g}", golden.noise)});
  if (!gaussian) flags.insert(flags.end(), {"--temperature", fmt::format("{:.17g}", golden.temperature)});
  return flags;
}

void expect_equal(const json& actual, const GoldenResult& expected) {
  const auto near = [](const json& value, double wanted, const char* what) {
    EXPECT_LT(relative_mismatch(value.get<double>(), wanted), tolerance) << what;
  };
  near(actual.at("log_likelihood"), expected.log_likelihood, "log_likelihood");
  near(actual.at("log_prior"), expected.log_prior, "log_prior");
  near(actual.at("log_det"), expected.log_det, "log_det");
  near(actual.at("log_marginal_likelihood"), expected.log_marginal_likelihood, "log_marginal_likelihood");
  const json& gradient = actual.at("gradient");
  EXPECT_LT(relative_mismatch(tensor_of(gradient.at("log_prior_precision")), expected.gradient_log_prior_precision),
            tolerance);
  if (expected.gradient_log_noise) near(gradient.at("log_noise"), *expected.gradient_log_noise, "log_noise");
  if (expected.gradient_log_temperature)
    near(gradient.at("log_temperature"), *expected.gradient_log_temperature, "log_temperature");
  const json& predictive = actual.at("predictive");
  EXPECT_LT(relative_mismatch(tensor_of(predictive.at("f_mean")), expected.f_mean), tolerance);
  EXPECT_LT(relative_mismatch(tensor_of(predictive.at("f_var")), expected.f_var), tolerance);
  if (expected.pred_var.defined()) {
    EXPECT_LT(relative_mismatch(tensor_of(predictive.at("pred_var")), expected.pred_var), tolerance);
  }
  if (expected.probit.defined()) {
    EXPECT_LT(relative_mismatch(tensor_of(predictive.at("probit")), expected.probit), tolerance);
  }
}

/// By default two structures a file, a prior each, changing from file to file, so that every combination has its turn.
bool is_selected(const GoldenResult& result, size_t file) {
  static const bool everything = std::getenv("OCKHAM_FULL_GOLDEN") != nullptr;
  if (everything) return true;
  const std::vector<std::string> structures = {"full-ggn", "kfac-ggn", "diag-ggn", "full-ef", "kfac-ef", "diag-ef"};
  const std::vector<std::string> priors = {"layerwise", "scalar", "diagonal"};
  const size_t place = std::find(structures.begin(), structures.end(), result.structure) - structures.begin();
  const size_t kinds = result.structure.rfind("kfac", 0) == 0 ? 2 : 3;  // the Kronecker structure has no diagonal prior
  return place % 3 == file % 3 && result.prior == priors[(file / 3 + place) % kinds];
}

TEST_P(GoldenTool, ReproducesTheCase) {
  const GoldenCase golden = read_golden(golden_names().at(GetParam()));
  const TemporaryDirectory directory;
  save_golden_torchscript(golden, directory.path("net.pt"));
  write_npy(directory.path("x.npy"), golden.inputs);
  write_npy(directory.path("y.npy"), golden.targets);
  write_npy(directory.path("t.npy"), golden.test_inputs);
  int runs = 0;
  for (const auto& result : golden.results) {
    if (!is_selected(result, GetParam())) continue;
    SCOPED_TRACE(golden.name + " " + result.label());
    const ToolRun run = run_tool(flags_of(golden, result, directory));
    ASSERT_EQ(run.exit_code, 0) << run.err;
    expect_equal(json::parse(run.out), result);
    ++runs;
  }
  EXPECT_GT(runs, 0);
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenTool, ::testing::Range<size_t>(0, golden_names().size()),
                         [](const auto& info) { return golden_names().at(info.param); });

/// The selection leaves no file, structure, curvature or rule out.
TEST(GoldenToolSelection, CoversEverything) {
  std::set<std::string> covered;
  const auto names = golden_names();
  for (size_t file = 0; file < names.size(); ++file) {
    for (const auto& result : read_golden(names[file]).results) {
      if (!is_selected(result, file)) continue;
      covered.insert(names[file]);
      covered.insert(result.structure);
      covered.insert(result.prior);
      covered.insert(result.variant.substr(0, result.variant.find('+')));
    }
  }
  for (const auto& name : names) EXPECT_TRUE(covered.count(name)) << name;
  for (const char* part : {"full-ggn", "kfac-ggn", "diag-ggn", "full-ef", "kfac-ef", "diag-ef", "scalar", "layerwise",
                           "diagonal", "conv_expand", "conv_backpack", "conv_reduce"}) {
    EXPECT_TRUE(covered.count(part)) << part;
  }
}

}  // namespace
}  // namespace ockham::testing
