#include "app/fit_resume_flags.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <map>

#include "app/fit_settings.h"
#include "ockham/base/error.h"

namespace ockham::app {
namespace {

using Texts = std::vector<std::string>;

FitFlags parse(Texts arguments) {
  CLI::App app;
  FitFlags flags;
  declare_fit(app, flags);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  app.parse(arguments);
  return flags;
}

/// The lines of a config.toml.
std::vector<CLI::ConfigItem> read_items(const std::string& path) {
  try {
    return CLI::ConfigTOML().from_file(path);
  } catch (const CLI::Error& error) {
    throw Error(ErrorKind::data, fmt::format("{}: cannot be read: {}", path, error.what()));
  }
}

Texts as_arguments(const CLI::ConfigItem& item) {
  Texts arguments;
  for (const std::string& value : item.inputs) arguments.push_back(fmt::format("--{}={}", item.name, value));
  return arguments;
}

std::map<std::string, Texts> by_flag(const FitFlags& flags) {
  std::map<std::string, Texts> values;
  for (const FitSetting& setting : list_fit_settings(flags)) values[setting.flag] = setting.values;
  return values;
}

/// As it would be typed.
std::string spelt(const std::string& flag, const Texts& values) {
  if (flag == "data") return "DATA " + values.front();
  if (values == Texts{"true"}) return "--" + flag;
  std::string text;
  for (const std::string& value : values) text += fmt::format("{}--{} {}", text.empty() ? "" : " ", flag, value);
  return text;
}

/// Only of what was given: the rest comes from the run.
void expect_agreement(const FitFlags& given, const CLI::App& line, const FitFlags& run, bool preset_recorded) {
  const auto wanted = by_flag(given), recorded = by_flag(run);
  const auto refuse = [&](const std::string& now, const std::string& before) {
    throw Error(ErrorKind::usage, fmt::format("{}: the run {} was made {}; leave it out to continue the run as it was, "
                                              "or begin another with another --out",
                                              now, given.out, before));
  };
  for (const CLI::Option* option : line.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const std::string flag = option->get_lnames().front();
    const auto now = wanted.find(flag), before = recorded.find(flag);
    // `auto` is compared when it has become a value.
    if (now == wanted.end() || now->second == Texts{"auto"}) continue;
    if (before == recorded.end()) refuse(spelt(flag, now->second), "without it");
    if (now->second != before->second) refuse(spelt(flag, now->second), "with " + spelt(flag, before->second));
  }
  if (line.count("--preset") > 0 && preset_recorded && given.preset != run.preset)
    refuse(spelt("preset", {word_of(given.preset)}), "with " + spelt("preset", {word_of(run.preset)}));
}

}  // namespace

FitFlags resume_flags(const FitFlags& given, const CLI::App& line, std::vector<std::string> arguments) {
  const std::string path = given.out + "/config.toml";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    if (!given.data.empty() || !given.inputs.empty()) {
      check_minibatch_flags(given.minibatch, given.curvature, given.log_det);
      return given;
    }
    throw Error(ErrorKind::data,
                fmt::format("--resume: there is no {}, which has the settings of an interrupted run; give its "
                            "directory with --out",
                            path));
  }
  const std::vector<CLI::ConfigItem> items = read_items(path);
  Texts recorded;
  bool preset_recorded = false;
  for (const CLI::ConfigItem& item : items) {
    const CLI::Option* option = line.get_option_no_throw("--" + item.name);
    if (option == nullptr)
      throw Error(ErrorKind::data, fmt::format("{}: it sets '{}', which this version of ockham does not have; continue "
                                               "the run with the version that began it",
                                               path, item.name));
    preset_recorded = preset_recorded || item.name == "preset";
    const Texts more = as_arguments(item);
    recorded.insert(recorded.end(), more.begin(), more.end());
    if (option->count() == 0) arguments.insert(arguments.end(), more.begin(), more.end());
  }
  FitFlags run;
  try {
    run = parse(recorded);
  } catch (const CLI::Error& error) {
    throw Error(ErrorKind::data, fmt::format("{}: {}", path, error.what()));
  }
  expect_agreement(given, line, run, preset_recorded);
  return parse(std::move(arguments));
}

}  // namespace ockham::app
