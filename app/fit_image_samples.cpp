#include "app/fit_image_samples.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ockham/report/png_uri.h"

namespace ockham::app {
namespace {

constexpr int64_t kSamples = 12;      // in each list
constexpr int64_t kLongestSide = 64;  // pixels: larger images lose rows and columns

/// [C, H, W] of any type as bytes [H, W, 1 or 3]; numbers that are no bytes from their smallest to their largest.
at::Tensor displayed(const at::Tensor& image) {
  const int64_t channels = image.size(0) >= 3 ? 3 : 1;
  const int64_t step = (std::max(image.size(1), image.size(2)) + kLongestSide - 1) / kLongestSide;
  at::Tensor pixels = image.narrow(0, 0, channels).slice(1, 0, c10::nullopt, step).slice(2, 0, c10::nullopt, step);
  if (pixels.scalar_type() != at::kByte) {
    pixels = pixels.to(at::kDouble);
    const double low = pixels.min().item<double>(), high = pixels.max().item<double>();
    pixels = ((pixels - low) * (255 / std::max(high - low, 1e-300))).round().to(at::kByte);
  }
  return pixels.permute({1, 2, 0}).contiguous();
}

}  // namespace

void add_image_samples(const Dataset& images, const at::Tensor& places, const at::Tensor& probabilities,
                       const std::string& split, RunReport& report) {
  const auto [sureness, predicted] = probabilities.max(1);
  const std::vector<std::string>& classes = report.classification.classes;
  ReportImages chosen;
  chosen.split = split;
  chosen.looked_at = images.size();
  const at::Tensor order = sureness.argsort(/*dim=*/0, /*descending=*/true);
  const auto sample = [&](int64_t rank) {
    const int64_t row = order[rank].item<int64_t>();
    const at::Tensor pixels = displayed(images.inputs()[row]);
    chosen.height = pixels.size(0);
    chosen.width = pixels.size(1);
    const uint8_t* bytes = pixels.data_ptr<uint8_t>();
    ReportImage image;
    image.picture = make_png_uri(pixels.size(1), pixels.size(0), pixels.size(2), {bytes, bytes + pixels.numel()});
    image.place = places[row].item<int64_t>();
    image.truth = classes[static_cast<size_t>(images.targets()[row].item<int64_t>())];
    image.predicted = classes[static_cast<size_t>(predicted[row].item<int64_t>())];
    image.probability = sureness[row].item<double>();
    return image;
  };
  const int64_t count = images.size(), few = std::min(kSamples, count);
  for (int64_t rank = 0; rank < few; ++rank) chosen.surest.push_back(sample(rank));
  for (int64_t rank = count - 1; rank >= count - few; --rank) chosen.least_sure.push_back(sample(rank));
  const at::Tensor wrong = predicted.ne(images.targets()).index_select(0, order).nonzero().flatten();
  for (int64_t k = 0; k < std::min(kSamples, wrong.numel()); ++k)
    chosen.surest_mistakes.push_back(sample(wrong[k].item<int64_t>()));
  report.images = std::move(chosen);
}

}  // namespace ockham::app
