// Where each named parameter lies in the flat vector θ [P]: the order of named_parameters(), each flattened row-major.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ockham {

struct ParameterSlot {
  std::string name;
  std::vector<int64_t> shape;
  int64_t offset = 0;  // first index in θ
  int64_t size = 0;    // number of weights
};

class ParameterLayout {
 public:
  ParameterLayout() = default;
  /// Offsets are assigned in the given order; `offset` and `size` of the slots are filled in.
  explicit ParameterLayout(std::vector<ParameterSlot> slots);

  size_t count() const { return slots_.size(); }
  int64_t total() const { return total_; }  // P
  const ParameterSlot& operator[](size_t index) const { return slots_[index]; }
  const std::vector<ParameterSlot>& slots() const { return slots_; }
  /// Throws Error(usage) with the known names when absent.
  size_t index_of(const std::string& name) const;

 private:
  std::vector<ParameterSlot> slots_;
  int64_t total_ = 0;
};

}  // namespace ockham
