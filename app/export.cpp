#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/export_flags.h"
#include "app/run_model.h"
#include "ockham/base/error.h"
#include "ockham/predict/export_torchscript.h"
#include "ockham/store/run_directory.h"

namespace ockham::app {
namespace {

/// σ of each target in its own units; empty without noise.
std::vector<double> noise_of(const TrainedModel& trained) {
  const at::Tensor& log_noise = trained.model.hyperparameters.log_noise;
  if (!log_noise.defined() || log_noise.numel() == 0) return {};
  const at::Tensor noise = (target_scales(trained.encoding) * log_noise.exp()).contiguous();
  return std::vector<double>(noise.data_ptr<double>(), noise.data_ptr<double>() + noise.numel());
}

std::vector<std::string> output_names(const TableEncoding& encoding) {
  if (encoding.task == Task::classification) return encoding.classes;
  std::vector<std::string> names;
  for (const TargetEncoding& target : encoding.targets) names.push_back(target.name);
  return names;
}

std::string as_json(const TrainedModel& trained, const ExportFlags& flags) {
  const bool classes = trained.encoding.task == Task::classification;
  nlohmann::ordered_json json;
  json["schema"] = 1;
  json["run"] = flags.run;
  json["file"] = flags.to;
  json["network"] = trained.network;
  json["task"] = classes ? "classification" : "regression";
  if (trained.images) {
    json["input_shape"] = trained.input_shape;
  } else {
    json["features"] = feature_names(trained.encoding);
  }
  json[classes ? "classes" : "targets"] = output_names(trained.encoding);
  json["noise_sd"] = noise_of(trained);
  return json.dump() + "\n";
}

std::string in_words(const TrainedModel& trained, const ExportFlags& flags) {
  const std::vector<std::string> features = feature_names(trained.encoding), outputs = output_names(trained.encoding);
  const bool classes = trained.encoding.task == Task::classification;
  if (trained.images)
    return fmt::format(
        "{}: torch.jit.load(...) maps images [N, {}], bytes or numbers from 0 to 255, to probabilities "
        "[N, {}]: {}\n",
        flags.to, fmt::join(trained.input_shape, ", "), outputs.size(), fmt::join(outputs, ", "));
  std::string text =
      fmt::format("{}: torch.jit.load(...) maps x [N, {}] to {} [N, {}]: {}\n", flags.to, features.size(),
                  classes ? "probabilities" : "means in their own units", outputs.size(), fmt::join(outputs, ", "));
  const std::vector<double> noise = noise_of(trained);
  if (!noise.empty()) text += fmt::format("noise standard deviation (noise_sd): {:.6g}\n", fmt::join(noise, ", "));
  text += "the columns of x (feature_names); numbers in their own units, categories as 0 or 1:\n";
  for (size_t i = 0; i < features.size(); ++i) text += fmt::format("{:>5}  {}\n", i, features[i]);
  return text;
}

}  // namespace

int run_export(const ExportFlags& flags) {
  expect_other_file("--to", flags.to, RunDirectory::open(flags.run).path_of(RunFile::model));
  std::error_code ignored;
  if (!flags.overwrite && std::filesystem::exists(std::filesystem::symlink_status(flags.to, ignored)))
    throw Error(ErrorKind::data, fmt::format("--to {}: the file exists already; --overwrite replaces it", flags.to));
  const TrainedModel trained = load_run_model(flags.run);
  export_torchscript(trained, flags.to);
  fmt::print("{}", flags.common.json ? as_json(trained, flags) : in_words(trained, flags));
  return 0;
}

}  // namespace ockham::app
