#include "ockham/network/parameter_layout.h"

#include <fmt/format.h>

#include <utility>

#include "ockham/base/error.h"

namespace ockham {

ParameterLayout::ParameterLayout(std::vector<ParameterSlot> slots) : slots_(std::move(slots)) {
  for (auto& slot : slots_) {
    slot.offset = total_;
    slot.size = 1;
    for (const int64_t extent : slot.shape) slot.size *= extent;
    total_ += slot.size;
  }
}

size_t ParameterLayout::index_of(const std::string& name) const {
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].name == name) return i;
  }
  std::string known;
  for (const auto& slot : slots_) known += (known.empty() ? "" : ", ") + slot.name;
  throw Error(ErrorKind::usage, fmt::format("the network has no parameter '{}'; it has {}", name, known));
}

}  // namespace ockham
