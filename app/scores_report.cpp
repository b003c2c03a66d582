#include "app/scores_report.h"

#include <fmt/format.h>

#include <cmath>

namespace ockham::app {

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
  add("brier", scores.brier);
  add("accuracy_bayes", scores.accuracy_bayes);
  add("ece_bayes", scores.ece_bayes);
  add("brier_bayes", scores.brier_bayes);
  return json;
}

std::string scores_words(const PredictiveScores& scores) {
  std::string words = fmt::format("on {} examples with known targets: ", scores.examples);
  const auto share = [](double value) { return fmt::format("{:.1f} %", 100 * value); };
  if (scores.rmse) words += fmt::format("root mean squared error {:.5g}, ", *scores.rmse);
  if (scores.accuracy_bayes) words += fmt::format("{} right, ", share(*scores.accuracy_bayes));
  words += fmt::format("negative log likelihood {:.5g} an example by the {} predictive ({:.5g} by the network{} alone)",
                       scores.nll_bayes, scores.rmse ? "linearised" : "probit", scores.nll,
                       scores.rmse ? " and its noise" : "");
  if (scores.coverage95)
    words += fmt::format(", {} of the targets inside the 95 % interval", share(*scores.coverage95));
  if (scores.ece_bayes)
    words += fmt::format(", calibration error {}, Brier score {:.4g}", share(*scores.ece_bayes), *scores.brier_bayes);
  return words;
}

}  // namespace ockham::app
