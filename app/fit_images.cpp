#include "app/fit_images.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "app/counted.h"
#include "app/image_arrays.h"
#include "app/image_classes.h"
#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "ockham/data/csv_rows.h"
#include "ockham/data/image_directory.h"
#include "ockham/predict/trained_model.h"

namespace ockham::app {
namespace {

constexpr uint64_t kTrainingDraw = 0x7472616964726177, kTestDraw = 0x7465737464726177;

[[noreturn]] void refuse_flag(const std::string& flag, const std::string& why) {
  throw Error(ErrorKind::usage, fmt::format("{}: {}", flag, why));
}

void expect_image_flags(const FitFlags& flags) {
  if (!flags.target.empty())
    refuse_flag("--target", "images have no columns, their classes are the target; leave it out");
  if (!flags.categorical.empty()) refuse_flag("--categorical", "images have no columns; leave it out");
  if (!flags.drop.empty()) refuse_flag("--drop", "images have no columns; leave it out");
  if (flags.impute) refuse_flag("--impute", "images have no missing values; leave it out");
  if (flags.task == TaskChoice::regression) refuse_flag("--task regression", "images are classified; leave it out");
  if (flags.likelihood == LikelihoodChoice::gaussian || flags.likelihood == LikelihoodChoice::poisson)
    refuse_flag(fmt::format("--likelihood {}", word_of(flags.likelihood)), "images are classified; use categorical");
  if (flags.prior == PriorChoice::ard)
    refuse_flag("--prior ard", "it is for the columns of a table; use layerwise, scalar or diagonal");
}

/// So many examples, drawn by the seed and left in their order.
ImageSet draw(const ImageSet& set, const char* flag, int64_t count, uint64_t seed, uint64_t stream,
              Messages& messages) {
  if (count == 0 || count == set.size()) return set;
  if (count > set.size())
    refuse_flag(fmt::format("{} {}", flag, count), fmt::format("{} has {} images", set.name, set.size()));
  messages.add(
      fmt::format("{}: {} of its {} images, drawn by --seed {} ({})", set.name, count, set.size(), seed, flag));
  return draw_images(set, count, random_stream({seed, stream}));
}

void expect_classes(const ImageSet& training) {
  if (!training.labels.defined())
    throw Error(ErrorKind::data, fmt::format("{}: the images have no labels; training needs them", training.name));
  const at::Tensor first = training.labels[0];
  if (training.labels.eq(first).all().item<bool>())
    throw Error(ErrorKind::data,
                fmt::format("{}: all {} images are of one class, '{}'; at least two are needed", training.name,
                            training.size(), training.classes[static_cast<size_t>(first.item<int64_t>())]));
}

/// Refuses test images that the networks could not take, and gives their labels the training set's numbers.
Dataset test_data(const ImageSet& training, const ImageSet& test) {
  expect_same_images(training.images.sizes().slice(1), test);
  const at::Tensor labels = labels_among(training.classes, test);
  if (!labels.defined())
    throw Error(ErrorKind::data, fmt::format("{}: its images have no labels; test numbers need them", test.name));
  return Dataset(test.images, labels);
}

std::string describe(const ImageSet& set) {
  return fmt::format("{} of {} × {} pixels, {}, {}", counted(set.size(), "image"), set.images.size(2),
                     set.images.size(3), counted(set.images.size(1), "channel"),
                     counted(static_cast<int64_t>(set.classes.size()), "class"));
}

struct Sets {
  ImageSet training;
  std::optional<ImageSet> test;
};

Sets read_sets(const FitFlags& flags, Messages& messages) {
  Sets sets;
  if (!flags.inputs.empty()) {
    sets.training = read_image_arrays(flags.inputs, flags.targets);
    if (!flags.test.empty()) sets.test = read_test_images(flags.test);
  } else {
    ImageDirectory directory = read_image_directory(flags.data);
    sets.training = std::move(directory.training);
    messages.add(fmt::format("{}: {} layout, {}", flags.data, layout_words(directory.layout), describe(sets.training)));
    if (!flags.test.empty()) sets.test = read_test_images(flags.test);
    if (directory.test && !flags.test.empty()) {
      messages.add(fmt::format("{}: its own test set of {} images is not used, but --test {} (without it, it would be)",
                               flags.data, directory.test->size(), flags.test));
    } else if (directory.test && flags.test_fraction > 0) {
      messages.add(
          fmt::format("{}: its own test set of {} images is not used, but {:.4g} % of its training images "
                      "(--test-fraction; without it, it would be)",
                      flags.data, directory.test->size(), 100 * flags.test_fraction));
    } else if (directory.test && !flags.no_test) {
      sets.test = std::move(directory.test);
      messages.add(fmt::format("{}: its test set of {} images is used, for reporting only (--no-test leaves it out)",
                               flags.data, sets.test->size()));
    }
  }
  expect_classes(sets.training);
  if (flags.test_fraction > 0) {
    const auto [training, test] = divide_rows(sets.training.size(), flags.test_fraction, flags.common.seed);
    sets.test = take_images(sets.training, at::tensor(test, at::kLong));
    sets.training = take_images(sets.training, at::tensor(training, at::kLong));
  }
  return sets;
}

}  // namespace

FitData read_fit_images(const FitFlags& flags, Messages& messages) {
  if (!flags.inputs.empty() || image_layout(flags.data)) expect_image_flags(flags);
  if (flags.test_size > 0 && flags.no_test) refuse_flag("--test-size", "there is no test set with --no-test");
  Sets sets = read_sets(flags, messages);
  const ImageSet training =
      draw(sets.training, "--train-size", flags.train_size, flags.common.seed, kTrainingDraw, messages);
  expect_classes(training);
  std::optional<Dataset> test;
  if (sets.test)
    test =
        test_data(training, draw(*sets.test, "--test-size", flags.test_size, flags.common.seed, kTestDraw, messages));

  TableEncoding encoding = image_encoding(training.classes);
  Dataset data(training.images, training.labels);
  const std::string path = flags.inputs.empty() ? flags.data : flags.inputs;
  const std::string name = std::filesystem::path(path).lexically_normal().filename().empty()
                               ? std::filesystem::path(path).lexically_normal().parent_path().filename().string()
                               : std::filesystem::path(path).lexically_normal().filename().string();
  const std::string sum = data_checksum(encoding, data);
  return {name, std::move(encoding), std::move(data), std::move(test), sum, scaling_of(training)};
}

void expect_table_flags(const FitFlags& flags) {
  const char* only = "it is for images, and the data are a table; leave it out";
  if (flags.augment != AugmentChoice::none) refuse_flag("--augment", only);
  if (flags.train_size > 0) refuse_flag("--train-size", only);
  if (flags.test_size > 0) refuse_flag("--test-size", only);
  if (flags.no_test) refuse_flag("--no-test", only);
  if (flags.preset != PresetChoice::none) refuse_flag(fmt::format("--preset {}", word_of(flags.preset)), only);
}

}  // namespace ockham::app
