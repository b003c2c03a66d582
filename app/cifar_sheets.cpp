#include "app/cifar_sheets.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"
#include "ockham/data/png.h"

namespace ockham::app {
namespace {

namespace fs = std::filesystem;
constexpr int64_t plane = 32 * 32;

std::vector<int> read_labels(const fs::path& path) {
  try {
    return nlohmann::json::parse(read_file(path.string())).get<std::vector<int>>();
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::data, fmt::format("{}: is not a list of labels", path.filename().string()));
  }
}

}  // namespace

std::string read_cifar_sheet(const fs::path& directory, const std::string& name) {
  const bool test = name.rfind("test", 0) == 0;
  const fs::path picture = fs::path(name).replace_extension(".png");
  const at::Tensor sheet = decode_png(picture.string(), read_file((directory / picture).string()));
  const std::vector<int> labels = read_labels(directory / (test ? "test_lables.json" : "train_lables.json"));
  const int64_t rows = sheet.size(1);
  const int64_t first = test ? 0 : (name[std::string("data_batch_").size()] - '1') * rows;
  if (sheet.size(0) != 3 || sheet.size(2) != plane || static_cast<int64_t>(labels.size()) < first + rows) {
    throw Error(ErrorKind::data,
                fmt::format("{} is not a sheet of coloured images of 1024 pixels with a label each", picture.string()));
  }
  std::string records;
  records.reserve(static_cast<size_t>(rows * (1 + 3 * plane)));
  const auto* bytes = reinterpret_cast<const char*>(sheet.data_ptr<uint8_t>());
  for (int64_t row = 0; row < rows; ++row) {
    records.push_back(static_cast<char>(labels[static_cast<size_t>(first + row)]));
    for (int64_t colour = 0; colour < 3; ++colour) records.append(bytes + (colour * rows + row) * plane, plane);
  }
  return records;
}

}  // namespace ockham::app
