// The evidence of random models: every structure and kind of curvature against dense matrices.
// OCKHAM_PROPERTY_CASES models (100), drawn from OCKHAM_PROPERTY_SEED; a failure prints both, the smallest model that
// still fails, and rapidcheck's RC_PARAMS, which repeats that one.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "ockham/base/error.h"
#include "ockham/base/random.h"
#include "ockham/evidence/evidence.h"
#include "ockham/observe/plain_mlp.h"
#include "tests/properties/dense_evidence.h"
#include "tests/properties/find_failure.h"

namespace ockham::properties {
namespace {

struct Setting {
  const char* name;
  Structure structure = Structure::full;
  KroneckerRule rule = KroneckerRule::expand;
  bool damping = false;
  CurvatureOptions::DenseForm form = CurvatureOptions::DenseForm::automatic;
};

using Form = CurvatureOptions::DenseForm;
const std::vector<Setting> kSettings = {
    {"full, weight space", Structure::full, KroneckerRule::expand, false, Form::matrix},
    {"full, function space", Structure::full, KroneckerRule::expand, false, Form::rows},
    {"block", Structure::block},
    {"diagonal", Structure::diagonal},
    {"kron expand", Structure::kronecker, KroneckerRule::expand},
    {"kron reduce", Structure::kronecker, KroneckerRule::reduce},
    {"kron paper", Structure::kronecker, KroneckerRule::paper},
    {"kron damped", Structure::kronecker, KroneckerRule::expand, true}};

const std::map<CurvatureKind, const char*> kKinds = {
    {CurvatureKind::ggn, "GGN"}, {CurvatureKind::empirical_fisher, "EF"}, {CurvatureKind::mc_fisher, "MC"}};

constexpr uint64_t kFisherSeed = 5;

LaplaceOptions options_of(const Setting& setting, CurvatureKind kind, const RandomCase& random,
                          const RandomModel& model) {
  LaplaceOptions options;
  options.damping = setting.damping;
  options.likelihood_weight = std::exp(0.1 * random.likelihood_weight);
  options.curvature.structure = setting.structure;
  options.curvature.kronecker_rule = setting.rule;
  options.curvature.dense_form = setting.form;
  options.curvature.kind = kind;
  options.curvature.mc_samples = 2;
  options.curvature.seed = kFisherSeed;
  options.curvature.batch_size = random.batch_size;
  options.curvature.root_derivatives = true;
  if (setting.structure == Structure::block) options.curvature.blocks = model.blocks;
  return options;
}

/// Λ of the Monte-Carlo Fisher's own draws, with the noise.
at::Tensor drawn_curvature(const RandomModel& random, const LaplaceOptions& options) {
  const Model& model = random.model;
  const at::NoGradGuard no_gradients;
  const at::Tensor outputs = model.network.forward(random.data.inputs());
  const at::Tensor root = output_root(model.likelihood, outputs, random.data.targets(), model.hyperparameters,
                                      {CurvatureKind::mc_fisher, true, options.curvature.mc_samples},
                                      random_stream({kFisherSeed, 0x6d63666973686572}))
                              .root;
  return at::bmm(root, root.transpose(1, 2)) *
         curvature_scale(model.likelihood, CurvatureKind::mc_fisher, model.hyperparameters);
}

/// One random direction in all logarithms; in those of the root hyperparameters (temperature, σ per output) on request.
Hyperparameters random_direction(const Model& model, uint64_t seed, bool with_roots) {
  at::Generator generator = random_stream({seed, 6});
  const auto draw = [&](const at::Tensor& values) { return at::randn({values.numel()}, generator, at::kDouble); };
  const Hyperparameters& like = model.hyperparameters;
  Hyperparameters direction{draw(like.log_prior_precision), draw(like.log_noise), draw(like.log_temperature)};
  const auto* gaussian = std::get_if<Gaussian>(&model.likelihood);
  if (!with_roots) direction.log_temperature.zero_();
  if (!with_roots && gaussian != nullptr && gaussian->noise_per_output) direction.log_noise.zero_();
  return direction;
}

Hyperparameters moved(const Hyperparameters& from, const Hyperparameters& direction, double step) {
  return {from.log_prior_precision + step * direction.log_prior_precision, from.log_noise + step * direction.log_noise,
          from.log_temperature + step * direction.log_temperature};
}

double slope_of(const Hyperparameters& gradient, const Hyperparameters& direction) {
  double slope = at::dot(gradient.log_prior_precision, direction.log_prior_precision).item<double>();
  if (gradient.log_noise.numel() > 0) slope += at::dot(gradient.log_noise, direction.log_noise).item<double>();
  if (gradient.log_temperature.numel() > 0)
    slope += at::dot(gradient.log_temperature, direction.log_temperature).item<double>();
  return slope;
}

double size_of_terms(const Evidence& evidence) {
  return 1 + std::abs(evidence.log_likelihood) + std::abs(evidence.log_prior) + std::abs(evidence.log_det) / 2;
}

/// All comparisons of one model; throws what differs.
class Comparison {
 public:
  Comparison(const RandomCase& random, Mistake mistake = Mistake::none)
      : random_(random),
        exact_(make_model(random, false)),
        tested_(make_model(random, random.float32)),
        reference_(exact_, mistake) {}

  void compare(const Setting& setting, CurvatureKind kind) const {
    const LaplaceOptions options = options_of(setting, kind, random_, tested_);
    where_ = fmt::format("{} {}", setting.name, kKinds.at(kind));
    const Model& model = tested_.model;
    const bool draws = kind == CurvatureKind::mc_fisher;
    if (draws && random_.float32) return;  // a probability rounded otherwise may draw another class
    const Hyperparameters& values = model.hyperparameters;
    const Dataset data = draws ? tested_.data : shuffled();
    std::optional<LaplaceFit> fitted;
    Evidence found;
    try {
      fitted = fit_laplace(model, data, options);
      found = evidence(*fitted, values);
    } catch (const Error& error) {
      if (may_refuse(setting) && error.kind() == ErrorKind::usage) return;
      throw;
    }
    std::optional<at::Tensor> drawn;
    if (draws) drawn = drawn_curvature(exact_, options);
    expect_near("value", found.value, reference_.value(options, values, drawn), tolerance() * size_of_terms(found));
    if (draws) return;
    compare_gradient(options, found);
    // Away from the pass a temperature (or σ per output) is exact where the dense curvature is made again.
    const bool exact_roots = setting.structure == Structure::full || setting.structure == Structure::block;
    const Hyperparameters away = moved(values, random_direction(model, seed(), exact_roots), 0.5);
    const Evidence there = evidence(*fitted, away);
    expect_near("value elsewhere", there.value, reference_.value(options, away), tolerance() * size_of_terms(there));
    compare_hand_made(options, found);
  }

 private:
  uint64_t seed() const { return static_cast<uint64_t>(random_.seed); }
  double tolerance() const { return random_.float32 ? 2e-5 : 1e-9; }

  Dataset shuffled() const {
    const at::Tensor order = at::randperm(tested_.data.size(), random_stream({seed(), 7}), at::kLong);
    const Batch all = tested_.data.gather(order);
    return Dataset(all.inputs, all.targets);
  }

  void expect_near(const char* what, double found, double expected, double allowed) const {
    if (std::abs(found - expected) <= allowed) return;  // false for NaN
    throw std::runtime_error(fmt::format("{}: the {} is {:.12g}, but by dense matrices {:.12g} (allowed: {:.2g})",
                                         where_, what, found, expected, allowed));
  }

  /// A prior that is not separable has no Kronecker form: refused, or exact where it happens to have one.
  bool may_refuse(const Setting& setting) const {
    const PriorKind prior = tested_.model.prior.kind();
    return setting.structure == Structure::kronecker &&
           (prior == PriorKind::diagonal || (setting.damping && prior == PriorKind::ard));
  }

  void compare_gradient(const LaplaceOptions& options, const Evidence& found) const {
    const Hyperparameters& values = tested_.model.hyperparameters;
    const Hyperparameters direction = random_direction(tested_.model, seed() + 1, true);
    const auto at_step = [&](double step) { return reference_.value(options, moved(values, direction, step)); };
    constexpr double h = 1e-2;
    const double slope = (8 * (at_step(h) - at_step(-h)) - (at_step(2 * h) - at_step(-2 * h))) / (12 * h);
    const double allowed = (random_.float32 ? 1e-4 : 1e-5) * size_of_terms(found);
    expect_near("gradient", slope_of(found.gradient, direction), slope, allowed);
  }

  /// The passes by hand that training makes of plain MLPs.
  void compare_hand_made(const LaplaceOptions& options, const Evidence& found) const {
    const HandmadePasses by_hand(tested_.model.network, tested_.data.inputs());
    if (HandmadePasses::of(tested_.model.network) == nullptr) return;
    const Evidence again = evidence(fit_laplace(tested_.model, tested_.data, options), tested_.model.hyperparameters);
    expect_near("value by hand", again.value, found.value, tolerance() * size_of_terms(found));
  }

  RandomCase random_;
  RandomModel exact_, tested_;
  DenseEvidence reference_;
  mutable std::string where_;
};

TEST_F(RandomModels, EvidenceIsThatOfDenseMatrices) {
  int64_t models = 0;
  const std::string failure = find_failure(
      "evidence",
      [](const RandomCase& random) {
        const Comparison comparison(random);
        for (const Setting& setting : kSettings)
          for (const auto& [kind, name] : kKinds) comparison.compare(setting, kind);
      },
      models);
  EXPECT_EQ(failure, "");
  std::printf("%lld random models of seed %lld, each with %zu structures and %zu kinds of curvature\n",
              static_cast<long long>(models), static_cast<long long>(kSeed), kSettings.size(), kKinds.size());
}

/// The suite must notice what is wrong: here the reference is.
TEST_F(RandomModels, MistakesAreFound) {
  const std::vector<std::pair<Mistake, const char*>> mistakes = {{Mistake::no_likelihood_weight, "diagonal"},
                                                                 {Mistake::factors_swapped, "kron paper"},
                                                                 {Mistake::positions_not_meant, "kron expand"},
                                                                 {Mistake::noise_forgotten, "full, weight space"},
                                                                 {Mistake::prior_halved, "block"}};
  for (const auto& [mistake, name] : mistakes) {
    const auto setting = std::find_if(kSettings.begin(), kSettings.end(),
                                      [name = name](const Setting& one) { return std::string(one.name) == name; });
    int64_t models = 0;
    const std::string failure = find_failure(
        "mistake",
        [&, mistake = mistake](const RandomCase& random) {
          Comparison(random, mistake).compare(*setting, CurvatureKind::ggn);
        },
        models);
    EXPECT_NE(failure.find("by dense matrices"), std::string::npos) << "not found with " << name;
    EXPECT_NE(failure.find("only this model: RC_PARAMS='reproduce="), std::string::npos) << failure;
    EXPECT_NE(failure.find("OCKHAM_PROPERTY_SEED="), std::string::npos) << failure;
  }
}

}  // namespace
}  // namespace ockham::properties
