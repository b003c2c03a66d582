#include "experiments/image_cell.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/image_curve.h"
#include "experiments/image_data.h"
#include "experiments/kept_training.h"
#include "ockham/assess/ood.h"
#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "ockham/network/architectures.h"
#include "ockham/network/scaled_images.h"
#include "ockham/predict/scores.h"

namespace ockham::paper {
namespace {

constexpr uint64_t kWeightStream = 0x7061706572776569;
constexpr int64_t kScoredTraining = 10000;
constexpr double kTrainingShare = 0.9;  // of a cell's progress; the rest is scoring

std::string directory_of(const std::string& set, const Settings& settings) {
  const auto directory = find_image_set(settings.data, set);
  if (!directory) throw Error(ErrorKind::data, missing_sentence(settings.data, set));
  return *directory;
}

Model make_model(const ImageTraining& training, const ImageProblem& problem) {
  const auto classes = static_cast<int64_t>(problem.classes.size());
  const Network network = scale_images(make_architecture(training.network, problem.shape, classes, at::kFloat,
                                                         stream_seed({training.seed, kWeightStream})),
                                       problem.scaling);
  const bool fixed = training.method == ImageMethod::weight_decay;
  const Prior prior = fixed ? Prior::scalar(network.layout()) : Prior::layerwise(network.layout());
  Hyperparameters start = default_likelihood_hyperparameters(Categorical{}, classes);
  const double precision = fixed ? training.weight_decay * static_cast<double>(problem.training.size()) : 1;
  start.log_prior_precision = at::full({prior.size()}, std::log(precision), at::kDouble);
  return {network, Categorical{}, prior, start};
}

/// Asks after every batch of the scoring whether to go on.
std::function<void(int64_t)> ask(const CellContext& context) {
  return [context](int64_t) {
    if (context.go_on && !context.go_on(0.5)) throw Interrupted();
  };
}

PredictiveScores score_images(const Model& model, const Dataset& data, const CellContext& context) {
  return score_probabilities(class_probabilities(predict_outputs(model, data.inputs(), ask(context))), {},
                             data.targets());
}

Dataset at_most(const Dataset& data, int64_t count) {
  const Batch first = data.slice(0, count);
  return Dataset(first.inputs, first.targets);
}

Json bayes_scores(const Model& model, const ImageTraining& training, const ImageProblem& problem,
                  const LaplaceOptions& options, const CellContext& context) {
  LaplaceOptions laplace = options;
  laplace.curvature.progress = ask(context);
  const TrainedModel trained{training.network,
                             "",
                             problem.shape,
                             model,
                             fit_laplace(model, problem.training, laplace),
                             image_encoding(problem.classes),
                             problem.scaling};
  ScoreOptions scoring;
  scoring.linearised_examples = training.linearised;
  scoring.memory_budget = options.curvature.memory_budget;
  scoring.progress = scoring.map_progress = ask(context);
  const PredictiveScores scores = score(trained, problem.test, scoring);
  return {{"images", scores.linearised_examples},
          {"accuracy", scores.accuracy_bayes.value()},
          {"log_likelihood", -scores.nll_bayes},
          {"ece", scores.ece_bayes.value()}};
}

Json trace_of(const OnlineState& state, double images) {
  Json passes = Json::array();
  for (const OnlinePass& pass : state.passes)
    passes.push_back({{"epoch", pass.epoch}, {"evidence", pass.log_evidence / images}});
  return passes;
}

OnlineResult train(const ImageTraining& training, const ImageProblem& problem, const Model& model,
                   const OnlineOptions& options, const CellContext& context, Json& curve) {
  if (training.curve_images == 0) return train_kept(context, model, problem.training, options);
  const Dataset seen = at_most(problem.training, training.curve_images);
  const Dataset unseen = at_most(problem.test, training.curve_images);
  EpochCurve recorded(context, training.epochs, [&](int64_t) -> Json {
    const PredictiveScores train = score_images(model, seen, {}), test = score_images(model, unseen, {});
    return {{"train_nll", train.nll},
            {"train_error", 1 - train.accuracy.value()},
            {"test_nll", test.nll},
            {"test_error", 1 - test.accuracy.value()}};
  });
  OnlineResult result = train_kept(recorded.watched(), model, problem.training, options);
  curve = recorded.values();
  return result;
}

}  // namespace

Json train_images(const ImageTraining& training, const Settings& settings, const CellContext& context) {
  const ImageProblem problem =
      read_image_problem(directory_of(training.set, settings), training.train_size, training.test_size, training.seed);
  Model model = make_model(training, problem);
  const OnlineOptions options = online_options(training, settings.memory);
  Json curve;
  const OnlineResult trained = train(training, problem, model, options, part_of(context, 0, kTrainingShare), curve);
  if (!trained.best.mode.defined())
    throw Error(ErrorKind::numerical, fmt::format("{} on {}: {}", training.network, training.set, trained.failure));
  model.hyperparameters = trained.best.hyperparameters;

  const CellContext scoring = part_of(context, kTrainingShare, 1);
  const at::Tensor probabilities = class_probabilities(predict_outputs(model, problem.test.inputs(), ask(scoring)));
  const PredictiveScores test = score_probabilities(probabilities, {}, problem.test.targets());
  const PredictiveScores train = score_images(model, at_most(problem.training, kScoredTraining), scoring);
  const double weighted = static_cast<double>(problem.training.size()) * training.likelihood_weight;
  Json result = {{"accuracy", test.accuracy.value()},
                 {"log_likelihood", test.log_likelihood},
                 {"ece", test.ece.value()},
                 {"brier", test.brier.value()},
                 {"train_accuracy", train.accuracy.value()},
                 {"train_log_likelihood", train.log_likelihood},
                 {"evidence", trained.best.log_evidence / weighted},
                 {"log_evidence", trained.best.log_evidence},
                 {"parameters", model.network.layout().total()},
                 {"images", problem.training.size()},
                 {"test_images", problem.test.size()},
                 {"classes", problem.classes.size()},
                 {"best_epoch", trained.best.epoch},
                 {"gradient_norm", trained.gradient_norm},
                 {"seconds_training", trained.state.seconds_training},
                 {"seconds_curvature", trained.state.seconds_curvature},
                 {"losses", trained.state.losses},
                 {"passes", trace_of(trained.state, weighted)}};
  if (!trained.failure.empty()) result["failure"] = trained.failure;
  if (!curve.is_null()) result["curve"] = curve;
  if (!training.other.empty()) {
    const at::Tensor others =
        read_other_images(directory_of(training.other, settings), training.test_size, training.seed);
    const at::Tensor outside = class_probabilities(predict_outputs(model, others, ask(scoring)));
    result["auroc"] = area_under_roc(predictive_entropy(probabilities), predictive_entropy(outside));
  }
  if (training.linearised > 0) result["bayes"] = bayes_scores(model, training, problem, options.laplace, scoring);
  return result;
}

Cell image_cell(const std::string& name, const ImageTraining& training, const Settings& settings) {
  Cell cell;
  cell.name = name;
  cell.settings = to_json(training);
  cell.settings["data"] = describe_files(directory_of(training.set, settings));
  if (!training.other.empty()) cell.settings["other_data"] = describe_files(directory_of(training.other, settings));
  constexpr double usual_images = 50000;
  const double images = training.train_size > 0 ? static_cast<double>(training.train_size) : usual_images;
  cell.cost = multiply_adds(training.network, training.set) * images * static_cast<double>(training.epochs) *
              (1 + 1 / static_cast<double>(training.frequency));
  cell.run = [training, settings](const CellContext& context) { return train_images(training, settings, context); };
  return cell;
}

std::string start_of(const SharedTraining& shared) {
  return fmt::format("{}/{}/{}{}", shared.set, shared.word, word_of(shared.method), shared.augment ? "-augmented" : "");
}

Cell shared_cell(const SharedTraining& shared, int64_t seed, const ImageScale& scale, const Settings& settings) {
  ImageTraining training = paper_training(shared.set, shared.network, shared.method, scale);
  training.seed = image_seed(settings, seed);
  // A linearised prediction costs as much as training on ten images or so: scoring must not outlast training.
  constexpr int64_t fewest = 20, most = 300, trained_per_prediction = 100;
  training.linearised =
      scale.train_size == 0
          ? most
          : std::clamp<int64_t>(scale.train_size * scale.epochs / trained_per_prediction, fewest, most);
  training.augment = shared.augment;
  constexpr double weight_of_augmented = 5;
  if (shared.augment && shared.method != ImageMethod::weight_decay) training.likelihood_weight = weight_of_augmented;
  if (shared.set == "cifar-10" && find_image_set(settings.data, "svhn")) training.other = "svhn";
  return image_cell(fmt::format("{}/{}/seed-{}", scale_word(scale), start_of(shared), seed), training, settings);
}

double multiply_adds(const std::string& network, const std::string& set) {
  const bool gray = set.find("mnist") != std::string::npos;
  const double channels = gray ? 1 : 3, side = gray ? 28 : 32;
  const auto value = [&](const char* key, double otherwise) {
    const size_t at = network.find(key);
    return at == std::string::npos ? otherwise : std::atof(network.c_str() + at + std::char_traits<char>::length(key));
  };
  if (network == "cnn:3c3d") return gray ? 1.0e7 : 1.5e7;
  const double width = value("width=", 16), depth = value("depth=", 3);
  if (network.rfind("resnet", 0) == 0) return 9 * width * width * side * side * (depth - 2);
  if (network.rfind("cnn", 0) == 0) {
    double sum = 9 * channels * width * side * side;
    for (int block = 1; block < static_cast<int>(depth); ++block)
      sum += 9 * 2 * width * width * side * side;  // twice as many channels on a quarter of the pixels
    return sum;
  }
  double sum = 0, before = channels * side * side;
  for (size_t at = network.find(':'); at != std::string::npos; at = network.find('-', at + 1)) {
    const double next = std::atof(network.c_str() + at + 1);
    sum += before * next;
    before = next;
  }
  return sum + 10 * before;
}

double number_of(const Json& result, const std::string& key) {
  const auto found = result.find(key);
  return found != result.end() && found->is_number() ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace ockham::paper
