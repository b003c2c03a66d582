#include "app/fit_flags.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdlib>

namespace ockham::app {
namespace {

constexpr const char* data_group = "Data";
constexpr const char* candidates_group = "Candidates";
constexpr const char* algorithm_group = "Online algorithm";
constexpr const char* model_group = "Model and curvature";
constexpr const char* run_group = "Run";
constexpr const char* rank_group = "Several processes";

const Words<AugmentChoice> augment_words = {{"none", AugmentChoice::none},
                                            {"flip", AugmentChoice::flip},
                                            {"crop", AugmentChoice::crop},
                                            {"crop-flip", AugmentChoice::crop_flip}};
const Words<PresetChoice> preset_words = {{"none", PresetChoice::none},
                                          {"paper-images", PresetChoice::paper_images},
                                          {"paper-architectures", PresetChoice::paper_architectures}};

/// "auto" or a number, into an optional.
template <class Value, class Parse>
CLI::Option* add_automatic(CLI::App& app, const std::string& flag, std::optional<Value>& value, Parse parse,
                           const std::string& help) {
  return app.add_option_function<std::string>(
      flag,
      [&value, parse](const std::string& text) {
        if (text == "auto") {
          value.reset();
        } else {
          value = parse(text);
        }
      },
      help + " (default: auto)");
}

CLI::Option* add_automatic_count(CLI::App& app, const std::string& flag, std::optional<int64_t>& value,
                                 int64_t smallest, const std::string& help) {
  return add_automatic(
             app, flag, value, [=](const std::string& text) { return parse_count(flag, smallest, text); }, help)
      ->option_text("N|auto");
}

CLI::Option* add_automatic_positive(CLI::App& app, const std::string& flag, std::optional<double>& value,
                                    const std::string& what, const std::string& help) {
  return add_automatic(
             app, flag, value, [=](const std::string& text) { return parse_positive(flag, what, text); }, help)
      ->option_text("R|auto");
}

CLI::Option* add_automatic_positives(CLI::App& app, const std::string& flag, std::vector<double>& values,
                                     const std::string& what, const std::string& help) {
  return app
      .add_option_function<std::vector<std::string>>(
          flag,
          [=, &values](const std::vector<std::string>& texts) {
            if (texts == std::vector<std::string>{"auto"}) {
              values.clear();
            } else {
              values = parse_positives(flag, what, texts);
            }
          },
          help + " (default: auto)")
      ->option_text("V[,V...]|auto");
}

/// Names of columns, separated by commas.
CLI::Option* add_names(CLI::App& app, const std::string& flag, std::vector<std::string>& names,
                       const std::string& help) {
  return app
      .add_option_function<std::vector<std::string>>(
          flag,
          [flag, &names](const std::vector<std::string>& texts) {
            for (const std::string& text : texts)
              for (const std::string& name : split_list(text)) names.push_back(name);
            if (names.empty()) throw CLI::ValidationError(flag, "expected the name of a column, got ''");
          },
          help)
      ->option_text("NAME[,NAME...]");
}

void add_data(CLI::App& app, FitFlags& flags) {
  app.add_option("DATA,--data", flags.data,
                 "A table: a .csv or .csv.gz file, or - for standard input; or images: a directory in IDX or CIFAR "
                 "binary layout, or of folders of PNG and JPEG files by class")
      ->option_text("FILE|DIR");
  add_names(app, "--target", flags.target,
            "What to predict; several for a regression with several outputs "
            "(default: the last column)");
  add_choice<TaskChoice>(app, "--task", flags.task,
                         {{"auto", TaskChoice::automatic},
                          {"regression", TaskChoice::regression},
                          {"classification", TaskChoice::classification}},
                         "What kind of target it is");
  app.add_option("--inputs", flags.inputs, "Inputs from a NumPy file instead: a table [N, D] or images [N, C, H, W]")
      ->option_text("X.npy");
  app.add_option("--targets", flags.targets, "Their targets [N] or [N, C]")->option_text("Y.npy");
  add_table_flags(app, flags.table);
  app.add_flag("--impute", flags.impute,
               "Fill missing inputs: the mean for numbers, a category of their own for names");
  add_names(app, "--categorical", flags.categorical, "Columns of numbers that stand for names");
  add_names(app, "--drop", flags.drop, "Columns to leave out");
  app.add_option("--test", flags.test,
                 "A table or directory for the reported test numbers; never used for selection (default for images: "
                 "the directory's own test set)")
      ->option_text("FILE|DIR");
  app.add_option_function<std::string>(
         "--test-fraction",
         [&flags](const std::string& text) {
           flags.test_fraction = parse_positive("--test-fraction", "the fraction", text);
           if (flags.test_fraction >= 1) {
             throw CLI::ValidationError("--test-fraction",
                                        fmt::format("the fraction must be between 0 and 1, got '{}'", text));
           }
         },
         "Set this fraction of the rows or training images aside for the reported test numbers, instead of --test")
      ->option_text("R")
      ->excludes("--test");
  app.add_flag("--no-test", flags.no_test,
               "Images: leave the directory's own test set alone; not with --test or --test-fraction")
      ->excludes("--test")
      ->excludes("--test-fraction");
  add_count(app, "--train-size", flags.train_size, 1, "Images: train on so many of them, drawn by the seed");
  add_count(app, "--test-size", flags.test_size, 1, "Images: report on so many of the test images, drawn by the seed");
}

void add_candidates(CLI::App& app, FitFlags& flags) {
  app.add_option(
         "--network", flags.networks,
         "A candidate, repeatable: linear, mlp:50, mlp:50-50,act=tanh, for images cnn:3c3d, cnn:width=8,depth=3, "
         "resnet:depth=20,width=16, or a TorchScript FILE.pt, which runs code of its own (default: auto)")
      ->option_text("SPEC")
      ->allow_extra_args(false);
  add_count(app, "--restarts", flags.restarts, 1, "Trainings of each candidate from different weights (default: 1)");
  add_automatic_count(app, "--workers", flags.workers, 1, "Candidates trained at once, each on one thread");
  app.add_flag("--eliminate", flags.eliminate, "Give up hopeless candidates early");
  add_choice<BaselineChoice>(
      app, "--baseline", flags.baseline,
      {{"none", BaselineChoice::none}, {"holdout", BaselineChoice::holdout}, {"folds", BaselineChoice::folds}},
      "Also do, for comparison, a grid search over the prior precision with a 10 % hold-out or 5 "
      "folds");
}

void add_algorithm(CLI::App& app, FitFlags& flags) {
  add_choice<PresetChoice>(app, "--preset", flags.preset, preset_words,
                           "Settings of the paper's experiments on images, for all flags that are not given");
  add_automatic_count(app, "--epochs", flags.epochs, 1, "Passes over the data");
  add_automatic_count(app, "--batch-size", flags.batch_size, 0, "Examples per step; 0: all of them");
  add_choice<OptimizerChoice>(
      app, "--optimizer", flags.optimizer,
      {{"auto", OptimizerChoice::unset}, {"adam", OptimizerChoice::adam}, {"sgd", OptimizerChoice::sgd}},
      "Optimiser of the weights");
  add_automatic_positive(app, "--lr", flags.lr, "the learning rate", "Learning rate of the weights");
  add_positive(app, "--momentum", flags.momentum, "the momentum", "Momentum of sgd (default: 0.9)")->option_text("R");
  add_choice<ScheduleChoice>(app, "--lr-schedule", flags.lr_schedule,
                             {{"auto", ScheduleChoice::unset},
                              {"constant", ScheduleChoice::constant},
                              {"cosine", ScheduleChoice::cosine},
                              {"step", ScheduleChoice::step}},
                             "How the learning rate follows the epochs");
  add_automatic_positives(app, "--lr-milestones", flags.lr_milestones, "a milestone",
                          "Fractions of the epochs after which --lr-schedule step takes a tenth of the rate");
  add_automatic_count(app, "--burn-in", flags.burn_in, 0, "B: epochs before the first curvature pass");
  add_automatic_count(app, "--frequency", flags.frequency, 1, "F: epochs from one curvature pass to the next");
  add_automatic_count(app, "--hyper-steps", flags.hyper_steps, 0,
                      "K: steps on the hyperparameters after each pass; 0 keeps them as given");
  add_automatic_positive(app, "--hyper-lr", flags.hyper_lr, "the step size", "γ: step size on the log hyperparameters");
  add_automatic_count(app, "--best-after", flags.best_after, 0,
                      "Keep the state of the highest evidence among those after N epochs");
  add_count(app, "--patience", flags.patience, 0,
            "End a training when the evidence has not risen for N curvature passes; 0: never (default: 0)");
}

void add_model(CLI::App& app, FitFlags& flags) {
  Words<LikelihoodChoice> likelihoods = likelihood_words();
  likelihoods.insert(likelihoods.begin(), {"auto", LikelihoodChoice::unset});
  Words<StructureChoice> structures = structure_words();
  structures.insert(structures.begin(), {"auto", StructureChoice::unset});
  add_choice<LikelihoodChoice>(app, "--likelihood", flags.likelihood, likelihoods,
                               "How the targets follow from the outputs");
  add_choice<StructureChoice>(app, "--structure", flags.structure, structures,
                              "Structure of the curvature; with --evidence minibatch that of the predictions only, the "
                              "evidence is then of the full structure");
  add_log_det(app, flags.log_det);
  add_choice<CurvatureChoice>(app, "--curvature", flags.curvature, curvature_words(),
                              "Gauss-Newton, empirical Fisher or Monte-Carlo Fisher");
  add_choice<KroneckerChoice>(app, "--kron-approx", flags.kronecker, kronecker_words(),
                              "How the positions of a convolution enter the Kronecker factors");
  add_count(app, "--mc-samples", flags.mc_samples, 1, "Samples of the Monte-Carlo Fisher (default: 1)");
  add_ggn_tolerance(app, flags.ggn_tolerance);
  add_minibatch_flags(app, flags.minibatch);
  add_choice<PriorChoice>(app, "--prior", flags.prior, prior_words(),
                          "Which weights share a prior precision: all, each parameter tensor, none, or each input");
  add_automatic_positives(app, "--prior-precision", flags.prior_precision, "a prior precision",
                          "Where the precisions start: one for all, or one per group");
  add_automatic_positives(app, "--noise", flags.noise, "the noise standard deviation",
                          "Where the Gaussian noise starts, in the target's own units");
  app.add_flag("--learn-temperature", flags.learn_temperature, "Also learn the temperature of softmax(f / T)");
  add_automatic_positive(app, "--likelihood-weight", flags.likelihood_weight, "the likelihood weight",
                         "Count each example R times; auto: once, more often with --augment");
  add_choice<AugmentChoice>(app, "--augment", flags.augment, augment_words,
                            "Random changes of the training images in every epoch: flip left to right, crop after "
                            "padding with 4 pixels");
}

void add_run(CLI::App& app, FitFlags& flags) {
  app.add_option("--out", flags.out, "The run directory (default: a new one under ockham-runs/)")->option_text("RUN");
  app.add_flag("--resume", flags.resume,
               "Continue the interrupted run --out, to the same result; data and flags are those of its config.toml");
  add_positive(app, "--checkpoint-interval", flags.checkpoint_interval, "the interval",
               "Seconds between checkpoints (default: 10)")
      ->option_text("S");
}

void add_ranks(CLI::App& app, FitFlags& flags) {
  add_rank_flags(app, flags.ranks);
  add_parallel_flag(app, flags.ranks);
}

void check(const FitFlags& flags) {
  const bool arrays = !flags.inputs.empty() || !flags.targets.empty();
  if (flags.data.empty() && !arrays && !flags.resume) throw CLI::RequiredError("DATA");
  if (!flags.data.empty() && arrays)
    throw CLI::ValidationError("--inputs", "the data are given twice, as DATA and as --inputs; give one of them");
  if (arrays && flags.inputs.empty()) throw CLI::RequiredError("--inputs");
  if (arrays && flags.targets.empty()) throw CLI::RequiredError("--targets");
  if (arrays && !flags.target.empty())
    throw CLI::ValidationError("--target", "columns have no names in a NumPy file: leave it out, --targets says it");
  if (flags.resume && flags.out.empty())
    throw CLI::ValidationError("--resume", "give the directory of the interrupted run with --out");
  if (flags.ranks.ranks > 1 && flags.data == "-")
    throw CLI::ValidationError("--ranks", "several processes cannot read standard input; give the data as a file");
  if (flags.resume && flags.data == "-")
    throw CLI::ValidationError("--resume", "standard input cannot be read again; give the data as a file");
  for (const double milestone : flags.lr_milestones)
    if (milestone >= 1) throw CLI::ValidationError("--lr-milestones", "they are fractions of the epochs, below 1");
  if (flags.momentum >= 1) throw CLI::ValidationError("--momentum", "the momentum must be below 1");
  if (!flags.resume || flags.minibatch.chosen())  // else it is the run that may have chosen it
    check_minibatch_flags(flags.minibatch, flags.curvature, flags.log_det);
  check_rank_flags(flags.ranks);
}

}  // namespace

const char* word_of(AugmentChoice choice) {
  for (const auto& [word, value] : augment_words)
    if (value == choice) return word.c_str();
  return "";
}

const char* word_of(PresetChoice choice) {
  for (const auto& [word, value] : preset_words)
    if (value == choice) return word.c_str();
  return "";
}

void declare_fit(CLI::App& app, FitFlags& flags) {
  app.description(
      "Trains candidate networks on a table or on images, chooses by the marginal likelihood, and keeps the best.");
  app.footer(
      "ockham fit energy.csv --target Y\n"
      "ockham fit energy.csv --target Y --network linear --network mlp:50 --network mlp:50-50 --restarts 3 --out run\n"
      "ockham fit flowers.csv.gz --target species --test-fraction 0.1 --prior ard\n"
      "ockham fit fashion-mnist/ --network mlp:200 --network cnn:3c3d --train-size 10000 --out run\n"
      "ockham fit cifar-10/ --network resnet:depth=20 --preset paper-images --augment crop-flip\n"
      "ockham fit cifar-10/ --network resnet:depth=20 --evidence minibatch --evidence-batch 64\n"
      "ockham fit energy.csv --target Y --ranks 4 --out run\n"
      "ockham fit --resume --out run          # goes on where it was interrupted");
  const auto group = [&](const char* name, void (*add)(CLI::App&, FitFlags&)) {
    const auto before = app.get_options();
    add(app, flags);
    for (CLI::Option* option : app.get_options())
      if (std::find(before.begin(), before.end(), option) == before.end() && !option->get_group().empty())
        option->group(name);
  };
  group(data_group, add_data);
  group(candidates_group, add_candidates);
  group(algorithm_group, add_algorithm);
  group(model_group, add_model);
  group(run_group, add_run);
  group(rank_group, add_ranks);
  add_common_flags(app, flags.common);
  app.get_option("--time-limit")
      ->description(
          "End the trainings after this time (seconds, or 10m, 2h), rank what there is and assess it quickly; --resume "
          "goes on (default: none)");
  app.callback([&app, &flags] {
    flags.kronecker_given = app.count("--kron-approx") > 0;
    if (!flags.resume || flags.log_det.estimated())
      settle_log_det(app, flags.log_det, flags.structure, flags.curvature);
    check_prior(flags.log_det, flags.prior);
    check(flags);
  });
}

}  // namespace ockham::app
