#include "app/fit_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

namespace ockham::app {
namespace {

constexpr const char* automatic = "auto";  // what is absent

const char* word_of(TaskChoice choice) {
  return choice == TaskChoice::regression       ? "regression"
         : choice == TaskChoice::classification ? "classification"
                                                : "auto";
}

const char* word_of(OptimizerChoice choice) {
  return choice == OptimizerChoice::sgd ? "sgd" : choice == OptimizerChoice::adam ? "adam" : automatic;
}

const char* word_of(ScheduleChoice choice) {
  return choice == ScheduleChoice::constant ? "constant"
         : choice == ScheduleChoice::step   ? "step"
         : choice == ScheduleChoice::cosine ? "cosine"
                                            : automatic;
}

const char* word_of(HeaderChoice choice) {
  return choice == HeaderChoice::yes ? "yes" : choice == HeaderChoice::no ? "no" : "auto";
}

const char* word_of(BaselineChoice choice) {
  return choice == BaselineChoice::holdout ? "holdout" : choice == BaselineChoice::folds ? "folds" : "none";
}

const char* separator_word(char separator) {
  switch (separator) {
    case ',':
      return "comma";
    case ';':
      return "semicolon";
    case '\t':
      return "tab";
    case ' ':
      return "space";
    case '|':
      return "pipe";
    default:
      return "auto";
  }
}

/// Files are recorded so that they are found from every directory.
std::string absolute(const std::string& path) {
  return path.empty() || path == "-" ? path : std::filesystem::absolute(path).lexically_normal().string();
}

std::string in_quotes(const std::string& text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') quoted += '\\';
    quoted += letter;
  }
  return quoted + '"';
}

}  // namespace

std::vector<FitSetting> list_fit_settings(const FitFlags& flags) {
  std::vector<FitSetting> settings;
  const auto add = [&](const char* flag, const auto& value) { settings.push_back({flag, {fmt::format("{}", value)}}); };
  const auto add_optional = [&](const char* flag, const auto& value) {
    settings.push_back({flag, {value ? fmt::format("{}", *value) : automatic}});
  };
  const auto add_text = [&](const char* flag, const std::string& value) {
    if (!value.empty()) settings.push_back({flag, {value}});
  };
  const auto add_all = [&](const char* flag, const auto& values) {
    FitSetting setting{flag, {}};
    for (const auto& value : values) setting.values.push_back(fmt::format("{}", value));
    if (!setting.values.empty()) settings.push_back(setting);
  };
  const auto add_switch = [&](const char* flag, bool on) {
    if (on) settings.push_back({flag, {"true"}});
  };
  add_text("data", absolute(flags.data));
  add_text("inputs", absolute(flags.inputs));
  add_text("targets", absolute(flags.targets));
  add_all("target", flags.target);
  add("task", word_of(flags.task));
  add("header", word_of(flags.table.header));
  add("separator", separator_word(flags.table.separator));
  add_switch("impute", flags.impute);
  add_all("categorical", flags.categorical);
  add_all("drop", flags.drop);
  add_text("test", absolute(flags.test));
  if (flags.test_fraction > 0) add("test-fraction", flags.test_fraction);
  add_switch("no-test", flags.no_test);
  if (flags.train_size > 0) add("train-size", flags.train_size);
  if (flags.test_size > 0) add("test-size", flags.test_size);
  add_all("network", flags.networks);
  add("restarts", flags.restarts);
  add_optional("workers", flags.workers);
  add_switch("eliminate", flags.eliminate);
  add("baseline", word_of(flags.baseline));
  add_optional("epochs", flags.epochs);
  add_optional("batch-size", flags.batch_size);
  add("optimizer", word_of(flags.optimizer));
  add_optional("lr", flags.lr);
  add("momentum", flags.momentum);
  add("lr-schedule", word_of(flags.lr_schedule));
  if (flags.lr_schedule == ScheduleChoice::step) add_all("lr-milestones", flags.lr_milestones);
  add_optional("burn-in", flags.burn_in);
  add_optional("frequency", flags.frequency);
  add_optional("hyper-steps", flags.hyper_steps);
  add_optional("hyper-lr", flags.hyper_lr);
  add_optional("best-after", flags.best_after);
  add("patience", flags.patience);
  add("likelihood", flags.likelihood == LikelihoodChoice::unset ? automatic : app::word_of(flags.likelihood));
  add("structure", flags.structure == StructureChoice::unset ? automatic : app::word_of(flags.structure));
  // What belongs to another flag is there without it too, for a command line that continues a run.
  const LogDetFlags standard;
  const bool estimated = flags.log_det.estimated();
  if (estimated) add("log-det", app::word_of(flags.log_det.method));
  if (estimated || flags.log_det.probes != standard.probes) add("slq-probes", flags.log_det.probes);
  if (estimated || flags.log_det.steps != standard.steps) add("slq-steps", flags.log_det.steps);
  if (estimated || flags.log_det.preconditioner != standard.preconditioner)
    add("slq-preconditioner", app::word_of(flags.log_det.preconditioner));
  add("curvature", app::word_of(flags.curvature));
  add("kron-approx", app::word_of(flags.kronecker));
  add("mc-samples", flags.mc_samples);
  if (flags.ggn_tolerance > 0) add("ggn-tolerance", flags.ggn_tolerance);
  if (flags.minibatch.chosen()) add("evidence", "minibatch");
  if (flags.minibatch.chosen() || flags.minibatch.batch) add_optional("evidence-batch", flags.minibatch.batch);
  if (flags.minibatch.chosen() || flags.minibatch.shared) add_optional("evidence-shared", flags.minibatch.shared);
  add("prior", app::word_of(flags.prior));
  add_all("prior-precision", flags.prior_precision);
  add_all("noise", flags.noise);
  add_switch("learn-temperature", flags.learn_temperature);
  add_optional("likelihood-weight", flags.likelihood_weight);
  if (flags.augment != AugmentChoice::none) add("augment", app::word_of(flags.augment));
  add("seed", flags.common.seed);
  add("threads", flags.common.threads);
  add("dtype", flags.common.dtype == FloatType::float64 ? "float64" : "float32");
  add("device", flags.common.device == DeviceKind::cuda ? "cuda" : "cpu");
  return settings;
}

std::vector<std::pair<std::string, std::string>> fit_settings(const FitFlags& resolved) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const FitSetting& setting : list_fit_settings(resolved))
    settings.emplace_back(setting.flag, fmt::format("{}", fmt::join(setting.values, ",")));
  return settings;
}

std::string fit_toml(const FitFlags& resolved) {
  std::string toml = fmt::format(
      "# Every setting of this run, resolved: ockham fit --config config.toml does it again.\npreset = \"{}\"\n",
      app::word_of(resolved.preset));
  for (const FitSetting& setting : list_fit_settings(resolved)) {
    std::vector<std::string> quoted;
    for (const std::string& value : setting.values) quoted.push_back(value == "true" ? value : in_quotes(value));
    toml += quoted.size() == 1 ? fmt::format("{} = {}\n", setting.flag, quoted[0])
                               : fmt::format("{} = [{}]\n", setting.flag, fmt::join(quoted, ", "));
  }
  return toml;
}

}  // namespace ockham::app
