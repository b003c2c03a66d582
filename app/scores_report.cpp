#include "app/scores_report.h"

#include <fmt/format.h>

#include <cmath>

#include "app/counted.h"

namespace ockham::app {
namespace {

constexpr int calibration_bins = 15;  // of expected_calibration_error

}  // namespace

nlohmann::ordered_json scores_json(const PredictiveScores& scores) {
  nlohmann::ordered_json json;
  const auto add = [&](const char* name, std::optional<double> value) {
    if (!value) return;
    json[name] = std::isfinite(*value) ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  json["examples"] = scores.examples;
  if (scores.linearised_examples != scores.examples) json["examples_bayes"] = scores.linearised_examples;
  add("log_likelihood", scores.log_likelihood);
  add("nll", scores.nll);
  add("nll_bayes", scores.nll_bayes);
  add("rmse", scores.rmse);
  add("coverage95", scores.coverage95);
  add("accuracy", scores.accuracy);
  add("ece", scores.ece);
  if (scores.ece) json["ece_bins"] = calibration_bins;
  add("brier", scores.brier);
  add("accuracy_bayes", scores.accuracy_bayes);
  add("ece_bayes", scores.ece_bayes);
  add("brier_bayes", scores.brier_bayes);
  return json;
}

std::string scores_words(const PredictiveScores& scores, const std::string& predictive) {
  std::string words = fmt::format("on {} with known targets: ", counted(scores.examples, "example"));
  const auto share = [](double value) { return fmt::format("{:.1f} %", 100 * value); };
  const bool bayes = std::isfinite(scores.nll_bayes);
  const std::optional<double>&accuracy = bayes ? scores.accuracy_bayes : scores.accuracy,
        &ece = bayes ? scores.ece_bayes : scores.ece, &brier = bayes ? scores.brier_bayes : scores.brier;
  if (scores.rmse) words += fmt::format("root mean squared error {:.5g}, ", *scores.rmse);
  if (accuracy) words += fmt::format("{} right, ", share(*accuracy));
  const std::string alone = fmt::format("by the network{} alone", scores.rmse ? " and its noise" : "");
  words += bayes ? fmt::format("negative log likelihood {:.5g} an example by the {} predictive ({:.5g} {})",
                               scores.nll_bayes, scores.rmse ? "linearised" : predictive, scores.nll, alone)
                 : fmt::format("negative log likelihood {:.5g} an example {}", scores.nll, alone);
  if (scores.coverage95)
    words += fmt::format(", {} of the targets inside the 95 % interval", share(*scores.coverage95));
  if (ece)
    words += fmt::format(", calibration error {} (in {} bins of equal width), Brier score {:.4g}", share(*ece),
                         calibration_bins, *brier);
  return words;
}

}  // namespace ockham::app
