#include "app/predict_flags.h"

#include <CLI/CLI.hpp>

#include "app/model_flags.h"

namespace ockham::app {
namespace {

const std::vector<std::pair<std::string, MethodChoice>> methods = {{"auto", MethodChoice::automatic},
                                                                   {"map", MethodChoice::map},
                                                                   {"linearised", MethodChoice::linearised},
                                                                   {"probit", MethodChoice::probit},
                                                                   {"sampled", MethodChoice::sampled}};

const std::vector<std::pair<std::string, ScopeChoice>> scopes = {{"whole", ScopeChoice::whole},
                                                                 {"last-layer", ScopeChoice::last_layer}};

void check(const PredictFlags& flags) {
  if (flags.run.empty()) throw CLI::RequiredError("RUN");
  const bool arrays = !flags.inputs.empty();
  if (!arrays && !flags.targets.empty())
    throw CLI::ValidationError("--targets", "belongs to --inputs; the target of a table is a column of it");
  if (arrays && !flags.data.empty())
    throw CLI::ValidationError("--inputs", "give either a table or --inputs, not both");
  if (!arrays && flags.data.empty()) throw CLI::RequiredError("DATA");
}

}  // namespace

const char* word_of(MethodChoice choice) {
  for (const auto& [word, value] : methods)
    if (value == choice) return word.c_str();
  return "";
}

const char* word_of(ScopeChoice choice) { return choice == ScopeChoice::whole ? "whole" : "last-layer"; }

void declare_predict(CLI::App& app, PredictFlags& flags) {
  app.description("Predicts for a table or images with a fitted network, and says how uncertain it is.");
  app.footer(
      "ockham predict ockham-runs/2026-01-31-235959 new.csv --out predictions.csv\n"
      "ockham predict RUN new.csv --json\n"
      "ockham predict RUN flowers.csv --method sampled --samples 5000\n"
      "ockham predict RUN cifar-10/ --ood svhn/ --out predictions.csv\n"
      "ockham predict RUN --inputs x.npy --targets y.npy");
  app.add_option("RUN", flags.run, "Run directory that ockham fit made (required)")->option_text("");
  app.add_option("DATA", flags.data,
                 "A table with the columns of training: .csv, .csv.gz, or - for standard input; or images: a "
                 "directory, a PNG or "
                 "JPEG file, or a .npy file [N, C, H, W]")
      ->option_text("");
  app.add_option("--out", flags.out, "The file for the predictions (default: standard output)")
      ->option_text("FILE.csv");
  add_choice<MethodChoice>(app, "--method", flags.method, methods,
                           "map: the network alone; linearised, probit (for classes), sampled (for classes): with the "
                           "uncertainty of its weights; auto: linearised for numbers, probit for classes");
  add_choice<ScopeChoice>(app, "--scope", flags.scope, scopes,
                          "Whose uncertainty: of all weights, or of the last layer's alone, which is much faster");
  add_count(app, "--samples", flags.samples, 1, "Samples of --method sampled (default: 1000)");
  app.add_option("--inputs", flags.inputs, "Inputs [N, D] instead of a table; its columns in the order of training")
      ->option_text("X.npy");
  app.add_option("--targets", flags.targets, "Targets [N] or [N, C] of --inputs, for the metrics")
      ->option_text("Y.npy");
  app.add_option("--ood", flags.ood,
                 "Images of another kind: how well the uncertainty tells them from DATA, as the area under the ROC "
                 "curve of the predictive entropy")
      ->option_text("DIR2|X.npy");
  add_choice<SetChoice>(app, "--set", flags.set,
                        {{"auto", SetChoice::automatic}, {"training", SetChoice::training}, {"test", SetChoice::test}},
                        "Which images of a directory; auto: its test set where it has one");
  add_count(app, "--size", flags.size, 1, "Predict for so many of the images, drawn by the seed (default: all)");
  add_table_flags(app, flags.table);
  add_common_flags(app, flags.common, {"--dtype", "--device", "--color"});
  app.callback([&flags] { check(flags); });
}

}  // namespace ockham::app
