#include "ockham/assess/checked_input.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "ockham/base/error.h"

namespace ockham {
namespace {

template <class Test>
void refuse_where(const at::Tensor& values, const char* name, const char* expected, Test bad) {
  const double* begin = values.data_ptr<double>();
  const double* end = begin + values.numel();
  const double* found = std::find_if(begin, end, bad);
  if (found == end) return;
  const int64_t width = values.dim() == 2 ? values.size(1) : 1, place = found - begin;
  const std::string where =
      width == 1 ? fmt::format("row {}", place) : fmt::format("row {}, column {}", place / width, place % width);
  throw Error(ErrorKind::data,
              fmt::format("The {} in {} (counted from 0) is {}, but {} expected.", name, where, *found, expected));
}

}  // namespace

at::Tensor checked_values(const at::Tensor& values, const char* name, int64_t dimensions) {
  const char* shape = dimensions == 1 ? "[N]" : "[N, C]";
  if (!values.defined())
    throw Error(ErrorKind::usage, fmt::format("The {} is an undefined tensor; give one of shape {}.", name, shape));
  if (!values.is_floating_point()) {
    throw Error(ErrorKind::usage, fmt::format("The {} holds {} numbers, but floating-point ones are expected; convert "
                                              "it with .to(at::kDouble).",
                                              name, c10::toString(values.scalar_type())));
  }
  if (values.dim() != dimensions) {
    throw Error(ErrorKind::usage, fmt::format("The {} has the shape [{}], but {} is expected.", name,
                                              fmt::join(values.sizes().vec(), ", "), shape));
  }
  if (values.numel() == 0) {
    throw Error(ErrorKind::data, fmt::format("The {} is empty (shape [{}]); at least one value is needed.", name,
                                             fmt::join(values.sizes().vec(), ", ")));
  }
  const at::Tensor checked = values.detach().to(at::kCPU, at::kDouble).contiguous();
  refuse_where(checked, name, "a number is", [](double value) { return std::isnan(value); });
  return checked;
}

at::Tensor checked_finite(const at::Tensor& values, const char* name, int64_t dimensions) {
  const at::Tensor checked = checked_values(values, name, dimensions);
  refuse_where(checked, name, "a finite number is", [](double value) { return std::isinf(value); });
  return checked;
}

}  // namespace ockham
