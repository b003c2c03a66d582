#include "experiments/image_data.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "ockham/data/image_directory.h"

namespace ockham::paper {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kTrainingDraw = 0x7061706572747261, kTestDraw = 0x7061706572746573, kOtherDraw = 0x70617065726f7468;

ImageSet draw(ImageSet set, int64_t count, uint64_t seed, uint64_t stream) {
  if (count <= 0 || count >= set.size()) return set;
  return draw_images(set, count, random_stream({seed, stream}));
}

void expect_labels(const ImageSet& set) {
  if (!set.labels.defined())
    throw Error(ErrorKind::data, fmt::format("{}: its images have no labels; the experiment needs them", set.name));
}

}  // namespace

std::optional<std::string> find_image_set(const std::string& data, const std::string& set) {
  const std::string exact = (fs::path(data) / set).string();
  if (image_layout(exact)) return exact;
  std::vector<std::string> found;
  std::error_code trouble;
  for (fs::directory_iterator entry(data, trouble), last; !trouble && entry != last; entry.increment(trouble)) {
    const std::string name = entry->path().filename().string();
    const bool begins = name.size() > set.size() && name.rfind(set, 0) == 0;
    if (begins && (name[set.size()] == '-' || name[set.size()] == '_') && image_layout(entry->path().string()))
      found.push_back(entry->path().string());
  }
  if (found.empty()) return std::nullopt;
  return *std::min_element(found.begin(), found.end());
}

std::string missing_sentence(const std::string& data, const std::string& set) {
  const std::string place = (fs::path(data) / set).string();
  if (set == "cifar-100")
    return fmt::format("{0} is not in {1}: put the binary version of CIFAR-100 (train.bin, test.bin) into {2}", set,
                       data, place);
  if (set == "svhn")
    return fmt::format(
        "{0} is not in {1}: put SVHN's cropped digits as CIFAR-10 records (train.bin, test.bin: a label byte and 3072 "
        "pixel bytes each) into {2}",
        set, data, place);
  return fmt::format("{0} is not in {1}: `ockham data {0} --to {2}` gets it", set, data, place);
}

std::vector<std::string> present_sets(const std::string& data, const std::vector<std::string>& sets) {
  std::vector<std::string> there;
  for (const std::string& set : sets)
    if (find_image_set(data, set)) there.push_back(set);
  if (!there.empty()) return there;
  std::string sentences;
  for (const std::string& sentence : missing_sets(data, sets)) sentences += (sentences.empty() ? "" : "; ") + sentence;
  throw Error(ErrorKind::data, sentences + " (or name another directory by --data)");
}

std::vector<std::string> missing_sets(const std::string& data, const std::vector<std::string>& sets) {
  std::vector<std::string> sentences;
  for (const std::string& set : sets)
    if (!find_image_set(data, set)) sentences.push_back(missing_sentence(data, set));
  return sentences;
}

Json describe_files(const std::string& directory) {
  Json files = Json::object();
  std::error_code trouble;
  for (fs::recursive_directory_iterator entry(directory, trouble), last; !trouble && entry != last;
       entry.increment(trouble)) {
    std::error_code ignored;
    if (!entry->is_regular_file(ignored)) continue;
    files[entry->path().lexically_relative(directory).string()] = fs::file_size(entry->path(), ignored);
  }
  constexpr size_t most = 64;  // folders of single images: their number will do
  return files.size() <= most ? files : Json{{"files", files.size()}};
}

ImageProblem read_image_problem(const std::string& directory, int64_t train_size, int64_t test_size, uint64_t seed) {
  ImageDirectory read = read_image_directory(directory);
  if (!read.test)
    throw Error(ErrorKind::data, fmt::format("{}: it has no test images; the experiment needs them", directory));
  expect_labels(read.training);
  expect_labels(*read.test);
  const ImageSet training = draw(std::move(read.training), train_size, seed, kTrainingDraw);
  const ImageSet test = draw(std::move(*read.test), test_size, seed, kTestDraw);
  return {Dataset(training.images, training.labels), Dataset(test.images, test.labels), learn_scaling(training),
          training.classes, training.images.sizes().slice(1).vec()};
}

at::Tensor read_other_images(const std::string& directory, int64_t count, uint64_t seed) {
  ImageDirectory read = read_image_directory(directory);
  return draw(read.test ? std::move(*read.test) : std::move(read.training), count, seed, kOtherDraw).images;
}

}  // namespace ockham::paper
