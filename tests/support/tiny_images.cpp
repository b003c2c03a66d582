#include "tests/support/tiny_images.h"

#include <ATen/ATen.h>

#include <filesystem>

#include "ockham/base/random.h"
#include "tests/support/temporary_directory.h"

namespace ockham::testing {
namespace {

std::string bytes_of(const at::Tensor& values) {
  const at::Tensor bytes = values.to(at::kByte).contiguous();
  return {static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()};
}

std::string idx_header(std::initializer_list<int64_t> sizes) {
  std::string bytes = {0, 0, 8, static_cast<char>(sizes.size())};
  for (const int64_t size : sizes)
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(size >> shift & 0xff);
  return bytes;
}

void write_idx(const std::string& start, const ImageSet& set) {
  write_bytes(start + "-images-idx3-ubyte",
              idx_header({set.size(), set.images.size(2), set.images.size(3)}) + bytes_of(set.images));
  write_bytes(start + "-labels-idx1-ubyte", idx_header({set.size()}) + bytes_of(set.labels));
}

std::string records(const ImageSet& set) {
  return bytes_of(at::cat({set.labels.to(at::kByte).unsqueeze(1), set.images.reshape({set.size(), -1})}, 1));
}

}  // namespace

ImageSet tiny_images(int64_t count, int64_t channels, int64_t side, uint64_t seed) {
  ImageSet set;
  set.name = "tiny";
  set.labels = at::arange(count, at::kLong).remainder(3);
  set.classes = {"0", "1", "2"};
  const at::Tensor noise =
      at::randint(0, 120, {count, channels, side, side}, random_stream({seed}), at::TensorOptions().dtype(at::kLong));
  const at::Tensor band = at::arange(side, at::kLong).mul(3).floor_divide(side);  // which third a row is in
  const at::Tensor bright = band.unsqueeze(0).eq(set.labels.unsqueeze(1)).to(at::kLong).mul(80);
  set.images = (noise + bright.reshape({count, 1, side, 1})).to(at::kByte);
  return set;
}

void write_idx_directory(const std::string& directory, const ImageSet& training, int64_t test_images, uint64_t seed) {
  std::filesystem::create_directories(directory);
  write_idx(directory + "/train", training);
  if (test_images > 0) write_idx(directory + "/t10k", tiny_images(test_images, 1, training.images.size(2), seed));
}

void write_cifar_directory(const std::string& directory, int64_t images, int64_t test_images, uint64_t seed) {
  std::filesystem::create_directories(directory);
  write_bytes(directory + "/data_batch_1.bin", records(tiny_images(images, 3, 32, seed)));
  if (test_images > 0) write_bytes(directory + "/test_batch.bin", records(tiny_images(test_images, 3, 32, seed + 1)));
}

}  // namespace ockham::testing
