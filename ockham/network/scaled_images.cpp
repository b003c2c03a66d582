#include "ockham/network/scaled_images.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ockham/base/error.h"

namespace ockham {
namespace {

at::Tensor per_channel(const std::vector<double>& values, at::ScalarType dtype) {
  return at::tensor(values, at::kDouble).to(dtype).view({1, -1, 1, 1});
}

}  // namespace

Network scale_images(const Network& network, const ImageScaling& scaling) {
  const auto channels = static_cast<int64_t>(scaling.mean.size());
  if (channels == 0 || scaling.sd.size() != scaling.mean.size() ||
      std::any_of(scaling.sd.begin(), scaling.sd.end(), [](double sd) { return !(sd > 0); })) {
    throw Error(ErrorKind::usage,
                fmt::format("an image scaling needs one mean and one positive sd per channel, but has "
                            "{} means and {} sds",
                            channels, scaling.sd.size()));
  }
  const at::ScalarType dtype = network.dtype();
  std::vector<double> factors, shifts;  // (x / 255 - mean) / sd in one step
  for (size_t channel = 0; channel < scaling.mean.size(); ++channel) {
    factors.push_back(1 / (255 * scaling.sd[channel]));
    shifts.push_back(-scaling.mean[channel] / scaling.sd[channel]);
  }
  const at::Tensor factor = per_channel(factors, dtype), shift = per_channel(shifts, dtype);

  std::vector<std::pair<std::string, at::Tensor>> named;
  for (size_t k = 0; k < network.parameters().size(); ++k)
    named.emplace_back(network.layout()[k].name, network.parameters()[k]);
  return Network(std::move(named), [network, factor, shift, channels, dtype](const at::Tensor& images) {
    if (images.dim() != 4 || images.size(1) != channels) {
      throw Error(ErrorKind::data,
                  fmt::format("the network takes images [N, {}, height, width], but inputs of shape [{}] came",
                              channels, fmt::join(images.sizes(), ", ")));
    }
    return network.forward(at::addcmul(shift, images.to(dtype), factor));
  });
}

}  // namespace ockham
