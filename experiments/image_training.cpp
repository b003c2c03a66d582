#include "experiments/image_training.h"

#include <fmt/format.h>

#include <algorithm>

#include "ockham/base/random.h"

namespace ockham::paper {
namespace {

constexpr uint64_t kSeedStream = 0x7061706572736565;
constexpr int64_t kPaperBatch = 128, kSmallBatch = 32;
constexpr int64_t kPaperChannels = 16, kFewChannels = 8;
constexpr int64_t kCropPadding = 4;

double resnet_rate(const ImageScale& scale) {
  constexpr double fixup = 0.1;  // for batches of the paper's size
  return fixup * static_cast<double>(batch_for(scale)) / kPaperBatch;
}

std::string counted(int64_t count, const char* one, const char* many) {
  return count == 0 ? fmt::format("all {}", many) : fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

ImageScale image_scale(const Settings& settings, int64_t epochs, int64_t seeds) {
  ImageScale scale{epochs, seeds, 0, 0, true, settings.quick};
  if (settings.quick) scale = {3, 1, 500, 500, false, true};
  if (settings.epochs > 0) scale.epochs = settings.epochs;
  if (settings.splits > 0) scale.seeds = settings.splits;
  if (settings.train_size > 0) {
    scale.train_size = settings.train_size;
    const int64_t enough = std::max<int64_t>(1000, 2 * scale.train_size);
    if (!scale.quick && enough < 10000) scale.test_size = enough;
  }
  scale.full = scale.epochs >= epochs && scale.train_size == 0;
  return scale;
}

std::string scale_word(const ImageScale& scale) {
  const std::string images = scale.train_size == 0 ? "all" : fmt::format("n{}", scale.train_size);
  return fmt::format("{}{}-e{}", scale.quick ? "quick-" : "", images, scale.epochs);
}

std::string scale_words(const ImageScale& scale, const ImageScale& of_paper) {
  return fmt::format("Scale: {}, {}, {}, {}, batches of {}; the paper: all images, {} epochs, {}, batches of {}.{}",
                     counted(scale.train_size, "training image", "training images"),
                     counted(scale.test_size, "test image", "test images"), counted(scale.epochs, "epoch", "epochs"),
                     counted(scale.seeds, "seed", "seeds"), batch_for(scale), of_paper.epochs,
                     counted(of_paper.seeds, "initialisation", "initialisations"), kPaperBatch,
                     scale.quick ? " Networks hardly learn anything in so little time: the verdicts show that the "
                                   "command works, no more."
                     : scale.full
                         ? ""
                         : " The paper's numbers beside ours are of its own scale. That states of the last "
                           "tenth of the epochs count, where the first pass comes, and the size of the batches "
                           "were chosen after test numbers of earlier trainings had been seen.");
}

int64_t frequency_for(int64_t epochs, int64_t of_paper) { return std::clamp<int64_t>(epochs / 8, 1, of_paper); }

int64_t burn_in_for(const ImageScale& scale) { return scale.full ? 0 : scale.epochs / 6; }

int64_t batch_for(const ImageScale& scale) { return scale.full ? kPaperBatch : kSmallBatch; }

std::string resnet_for(const ImageScale& scale, int64_t depth) {
  return fmt::format("resnet:depth={},width={}", depth, scale.full ? kPaperChannels : kFewChannels);
}

std::string resnet_words(const ImageScale& scale) {
  const std::string rate = fmt::format("ResNets have SGD with Fixup's rate, {}", resnet_rate(scale));
  if (scale.full) return rate + ".";
  return fmt::format("{} (0.1 for batches of {}), and {} channels at first instead of {} for the fewer images.", rate,
                     kPaperBatch, kFewChannels, kPaperChannels);
}

std::string word_of(ImageMethod method) {
  switch (method) {
    case ImageMethod::kron:
      return "kron";
    case ImageMethod::kron_damped:
      return "kron-damped";
    case ImageMethod::kron_expand:
      return "kron-expand";
    case ImageMethod::diagonal_ef:
      return "diag-ef";
    case ImageMethod::diagonal_ggn:
      return "diag-ggn";
    case ImageMethod::weight_decay:
      break;
  }
  return "weight-decay";
}

std::string name_of(ImageMethod method) {
  switch (method) {
    case ImageMethod::kron:
      return "kron GGN";
    case ImageMethod::kron_damped:
      return "kron GGN, damped";
    case ImageMethod::kron_expand:
      return "kron GGN, expand";
    case ImageMethod::diagonal_ef:
      return "diag EF";
    case ImageMethod::diagonal_ggn:
      return "diag GGN";
    case ImageMethod::weight_decay:
      break;
  }
  return "weight decay";
}

ImageTraining paper_training(const std::string& set, const std::string& network, ImageMethod method,
                             const ImageScale& scale) {
  ImageTraining training;
  training.set = set;
  training.network = network;
  training.method = method;
  training.train_size = scale.train_size;
  training.test_size = scale.test_size;
  training.epochs = scale.epochs;
  training.frequency = frequency_for(scale.epochs, 10);
  training.burn_in = burn_in_for(scale);
  training.batch_size = batch_for(scale);
  training.best_after = scale.epochs * 9 / 10;
  if (network.rfind("resnet", 0) == 0) {
    training.optimiser = OptimiserKind::sgd;
    training.learning_rate = resnet_rate(scale);
  }
  if (method == ImageMethod::weight_decay) {
    training.frequency = training.best_after = scale.epochs;
    training.steps = 0;
  }
  return training;
}

uint64_t image_seed(const Settings& settings, int64_t index) {
  return stream_seed({settings.seed, static_cast<uint64_t>(index), kSeedStream});
}

Json to_json(const ImageTraining& training) {
  Json json = {{"set", training.set},
               {"network", training.network},
               {"train_size", training.train_size},
               {"test_size", training.test_size},
               {"seed", training.seed},
               {"method", word_of(training.method)},
               {"epochs", training.epochs},
               {"batch_size", training.batch_size},
               {"frequency", training.frequency},
               {"steps", training.steps},
               {"burn_in", training.burn_in},
               {"step_size", training.step_size},
               {"best_after", training.best_after},
               {"optimiser", training.optimiser == OptimiserKind::sgd ? "sgd" : "adam"},
               {"learning_rate", training.learning_rate},
               {"augment", training.augment},
               {"likelihood_weight", training.likelihood_weight},
               {"linearised", training.linearised},
               {"other", training.other},
               {"curve_images", training.curve_images}};
  if (training.method == ImageMethod::weight_decay) json["weight_decay"] = training.weight_decay;
  return json;
}

OnlineOptions online_options(const ImageTraining& training, int64_t memory) {
  OnlineOptions options;
  options.epochs = training.epochs;
  options.burn_in = training.burn_in;
  options.frequency = training.frequency;
  options.best_after = training.best_after;
  options.hyper.steps = training.steps;
  options.hyper.step_size = training.step_size;
  options.optimiser.kind = training.optimiser;
  options.optimiser.learning_rate = training.learning_rate;
  options.optimiser.schedule = LearningRateSchedule::step;
  options.optimiser.milestones = {150.0 / 300, 225.0 / 300, 275.0 / 300};
  options.map.batch_size = training.batch_size;
  if (training.augment) {
    options.map.augment.crop_padding = kCropPadding;
    options.map.augment.flip = true;
  }
  options.laplace.likelihood_weight = training.likelihood_weight;
  options.laplace.damping = training.method == ImageMethod::kron_damped;
  options.seed = training.seed;
  CurvatureOptions& curvature = options.laplace.curvature;
  const bool diagonal = training.method == ImageMethod::diagonal_ef || training.method == ImageMethod::diagonal_ggn;
  curvature.structure = diagonal ? Structure::diagonal : Structure::kronecker;
  curvature.kind = training.method == ImageMethod::diagonal_ef ? CurvatureKind::empirical_fisher : CurvatureKind::ggn;
  curvature.kronecker_rule = training.method == ImageMethod::kron_expand ? KroneckerRule::expand : KroneckerRule::paper;
  curvature.batch_size = kPaperBatch;
  curvature.memory_budget = memory;
  curvature.seed = training.seed;
  return options;
}

}  // namespace ockham::paper
