#include "ockham/predict/checked_tensors.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ockham/base/error.h"

namespace ockham {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorKind::data, sentence + "; it is damaged"); }

}  // namespace

at::Tensor CheckedTensors::take(const std::string& name, at::ScalarType type, const std::vector<int64_t>& shape) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) refuse(fmt::format("tensor '{}' is missing", name));
  const at::Tensor tensor = found->second;
  if (tensor.scalar_type() != type || tensor.sizes() != at::IntArrayRef(shape))
    refuse(fmt::format("tensor '{}' is {} [{}], but {} [{}] is expected", name, c10::toString(tensor.scalar_type()),
                       fmt::join(tensor.sizes(), ", "), c10::toString(type), fmt::join(shape, ", ")));
  if (at::isFloatingType(type) && !tensor.isfinite().all().item<bool>())
    refuse(fmt::format("tensor '{}' has values that are not finite", name));
  return tensor;
}

at::Tensor CheckedTensors::take_vector(const std::string& name, int64_t size) const {
  return size == 0 ? at::zeros({0}, at::kDouble) : take(name, at::kDouble, {size});
}

std::string CheckedTensors::take_bytes(const std::string& name) const {
  const auto found = tensors_.find(name);
  const int64_t size = found == tensors_.end() ? 0 : found->second.numel();
  const at::Tensor bytes = take(name, at::kByte, {size}).contiguous();
  return std::string(static_cast<const char*>(bytes.data_ptr()), static_cast<size_t>(size));
}

NamedTensors CheckedTensors::with_prefix(const std::string& prefix) const {
  NamedTensors selected;
  for (const auto& [name, tensor] : tensors_)
    if (name.rfind(prefix, 0) == 0) selected[name.substr(prefix.size())] = tensor;
  return selected;
}

}  // namespace ockham
