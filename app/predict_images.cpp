#include "app/predict_images.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "app/image_arrays.h"
#include "app/image_classes.h"
#include "ockham/assess/ood.h"
#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "ockham/data/image_folder.h"

namespace ockham::app {
namespace {

constexpr uint64_t kDraw = 0x7072656464726177;
/// Two sets of images were hardly scaled alike when their means are so many standard deviations apart, or their
/// standard deviations differ by more than this factor.
constexpr double kFarMeans = 6, kOtherSpread = 20;

bool is_array(const std::string& path) { return std::filesystem::path(path).extension() == ".npy"; }

ImageSet read_set(const std::string& path, SetChoice choice, Messages& messages) {
  if (is_array(path)) return read_image_arrays(path, "");
  std::error_code trouble;
  if (!std::filesystem::exists(path, trouble))
    throw Error(ErrorKind::data,
                fmt::format("{}: {}", path, trouble ? trouble.message() : "no such file or directory"));
  if (has_loose_images(path) && !image_layout(path)) return read_unlabelled_images(path);
  if (!std::filesystem::is_directory(path, trouble))
    throw Error(ErrorKind::data,
                fmt::format("{}: the run is one of images; give a directory of them, a .png, .jpg or .npy file", path));
  ImageDirectory directory = read_image_directory(path);
  if (choice == SetChoice::test && !directory.test)
    throw Error(ErrorKind::usage, fmt::format("--set test: {} has no test set", path));
  const bool test = directory.test && choice != SetChoice::training;
  if (directory.test && choice == SetChoice::automatic)
    messages.add(
        fmt::format("{}: its test set of {} images (--set training takes the others)", path, directory.test->size()));
  return test ? std::move(*directory.test) : std::move(directory.training);
}

PredictData draw(const ImageSet& set, const PredictFlags& flags, Messages& messages, at::Tensor& rows) {
  PredictData data;
  data.name = set.name;
  const int64_t count = flags.size > 0 ? std::min(flags.size, set.size()) : set.size();
  rows = at::arange(set.size(), at::kLong);
  if (count < set.size()) {
    const at::Tensor order = at::randperm(set.size(), random_stream({flags.common.seed, kDraw}), at::kLong);
    rows = std::get<0>(order.narrow(0, 0, count).sort());
    messages.add(fmt::format("{}: {} of its {} images, drawn by --seed {} (--size)", set.name, count, set.size(),
                             flags.common.seed));
  }
  data.inputs = count < set.size() ? set.images.index_select(0, rows) : set.images;
  data.places.assign(rows.data_ptr<int64_t>(), rows.data_ptr<int64_t>() + rows.numel());
  if (!set.files.empty())
    for (const int64_t place : data.places) data.files.push_back(set.files[static_cast<size_t>(place)]);
  return data;
}

/// Floats between 0 and 1 for a model of bytes, and the like.
void compare_scales(const TrainedModel& trained, const PredictData& data, Messages& messages) {
  for (int64_t channel = 0; channel < data.inputs.size(1); ++channel) {
    const auto index = static_cast<size_t>(channel);
    const at::Tensor values = data.inputs.select(1, channel).to(at::kDouble) / 255;
    const double mean = values.mean().item<double>(), sd = values.std(/*unbiased=*/false).item<double>();
    const double usual_mean = trained.images->mean[index], usual_sd = trained.images->sd[index];
    const bool far = std::abs(mean - usual_mean) > kFarMeans * usual_sd;
    const bool other_spread = sd > 0 && (sd > kOtherSpread * usual_sd || sd * kOtherSpread < usual_sd);
    if (!far && !other_spread) continue;
    messages.add(
        fmt::format("{}: channel {} has mean {:.3g} and standard deviation {:.3g}, but {:.3g} and {:.3g} in "
                    "training: were the images scaled differently?",
                    data.name, channel, 255 * mean, 255 * sd, 255 * usual_mean, 255 * usual_sd));
    return;
  }
}

PredictData checked(const ImageSet& set, const PredictFlags& flags, const TrainedModel& trained, Messages& messages,
                    at::Tensor& rows) {
  expect_same_images(trained.input_shape, set);
  PredictData data = draw(set, flags, messages, rows);
  { const Dataset check(data.inputs, at::zeros({data.inputs.size(0)}, at::kLong)); }  // finite
  compare_scales(trained, data, messages);
  return data;
}

}  // namespace

PredictData read_predict_images(const PredictFlags& flags, const TrainedModel& trained, Messages& messages) {
  const ImageSet set =
      flags.inputs.empty() ? read_set(flags.data, flags.set, messages) : read_image_arrays(flags.inputs, flags.targets);
  at::Tensor rows;
  PredictData data = checked(set, flags, trained, messages, rows);
  const at::Tensor labels = labels_among(trained.encoding.classes, set);
  if (labels.defined()) data.scored.emplace(data.inputs, labels.index_select(0, rows));
  return data;
}

PredictData read_other_images(const PredictFlags& flags, const TrainedModel& trained, Messages& messages) {
  if (!trained.images) throw Error(ErrorKind::usage, "--ood: it is for images, but the run is one of a table");
  at::Tensor rows;
  return checked(read_set(flags.ood, SetChoice::automatic, messages), flags, trained, messages, rows);
}

void expect_table_data(const PredictFlags& flags) {
  const auto refuse = [](const char* flag) {
    throw Error(ErrorKind::usage, fmt::format("{}: it is for images, but the run is one of a table", flag));
  };
  if (!flags.ood.empty()) refuse("--ood");
  if (flags.set != SetChoice::automatic) refuse("--set");
  if (flags.size > 0) refuse("--size");
  std::error_code ignored;
  if (flags.inputs.empty() && std::filesystem::is_directory(flags.data, ignored))
    throw Error(ErrorKind::data,
                fmt::format("{}: is a directory, but the run is one of a table; give a .csv file", flags.data));
}

void assess_images(const TrainedModel& trained, const PredictData& data, const std::optional<PredictData>& others,
                   const PredictOptions& options, PredictReport& report) {
  if (!data.scored && !others) return;
  const bool is_map = report.rows.predictions.method == PredictMethod::map;
  const at::Tensor& probabilities = report.rows.predictions.probabilities;
  const at::Tensor map =
      is_map ? probabilities : class_probabilities(predict_outputs(trained, data.inputs, data.progress));
  if (data.scored)
    report.scores = score_probabilities(map, is_map ? at::Tensor() : probabilities, data.scored->targets());
  if (!others) return;
  const at::Tensor other_map = class_probabilities(predict_outputs(trained, others->inputs, others->progress));
  PredictOptions as_well = options;
  as_well.progress = others->progress;
  const at::Tensor other = is_map ? other_map : predict_table(trained, others->inputs, as_well).probabilities;
  report.ood = OodReport{others->name, others->inputs.size(0),
                         area_under_roc(predictive_entropy(probabilities), predictive_entropy(other)),
                         area_under_roc(predictive_entropy(map), predictive_entropy(other_map))};
}

std::string ood_words(const OodReport& report) {
  return fmt::format(
      "{} images of {} are told apart by the entropy of the predictions with an area under the ROC curve "
      "of {:.4f} ({:.4f} by the network alone)",
      report.examples, report.name, report.auroc, report.auroc_map);
}

}  // namespace ockham::app
