// The binary records of CIFAR-10 and CIFAR-100: label bytes, then the red, green and blue plane of 32 × 32 pixels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ockham/data/image_set.h"

namespace ockham {

struct CifarRecord {
  int64_t label_bytes = 1;  // the last one is the class; CIFAR-100 has the coarse label before it
  int64_t size() const { return label_bytes + 3 * 32 * 32; }
};

inline constexpr CifarRecord cifar10_record{1};
inline constexpr CifarRecord cifar100_record{2};

/// All records of the files, in this order. Throws Error(data) naming the file and the byte: empty, truncated, or a
/// label that is none of `classes`.
ImageSet read_cifar(const std::vector<std::string>& paths, const CifarRecord& record,
                    const std::vector<std::string>& classes);

/// The lines of batches.meta.txt or fine_label_names.txt; "0", "1", … up to `count` without that file.
std::vector<std::string> read_class_names(const std::string& path, int64_t count);

}  // namespace ockham
