#include "ockham/train/optimiser.h"

#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>
#include <torch/serialize.h>

#include <cmath>
#include <sstream>
#include <type_traits>

namespace ockham {
namespace {

std::unique_ptr<torch::optim::Optimizer> make(const std::vector<at::Tensor>& parameters,
                                              const OptimiserOptions& options) {
  if (options.kind == OptimiserKind::sgd) {
    return std::make_unique<torch::optim::SGD>(
        parameters, torch::optim::SGDOptions(options.learning_rate).momentum(options.momentum));
  }
  return std::make_unique<torch::optim::Adam>(parameters, torch::optim::AdamOptions(options.learning_rate));
}

constexpr int64_t kFewWeights = 1 << 15;  // above this ATen's threads are worth waking

bool is_small(const std::vector<at::Tensor>& parameters) {
  int64_t weights = 0;
  for (const at::Tensor& parameter : parameters) {
    if (!parameter.is_contiguous() || !parameter.device().is_cpu()) return false;
    if (parameter.scalar_type() != at::kFloat && parameter.scalar_type() != at::kDouble) return false;
    weights += parameter.numel();
  }
  return weights <= kFewWeights;
}

// What libtorch keeps for a parameter; null before its first step. libtorch 1.13 knows it by the text of the
// parameter's address, libtorch 2 by the address.
template <class States>
torch::optim::AdamParamState* find_state(States& states, const at::Tensor& parameter) {
  typename States::key_type key{};
  if constexpr (std::is_same_v<decltype(key), std::string>) {
    std::ostringstream text;
    text << parameter.unsafeGetTensorImpl();
    key = text.str();
  } else {
    key = parameter.unsafeGetTensorImpl();
  }
  const auto found = states.find(key);
  return found == states.end() ? nullptr : static_cast<torch::optim::AdamParamState*>(found->second.get());
}

template <class Scalar>
void step_adam(const at::Tensor& parameter, torch::optim::AdamParamState& state,
               const torch::optim::AdamOptions& options) {
  const auto [beta1, beta2] = options.betas();
  const double steps = static_cast<double>(state.step() + 1);
  state.step(state.step() + 1);
  const Scalar step_size = static_cast<Scalar>(options.lr() / (1 - std::pow(beta1, steps)));
  const Scalar correction = static_cast<Scalar>(std::sqrt(1 - std::pow(beta2, steps)));
  const Scalar keep1 = static_cast<Scalar>(beta1), new1 = static_cast<Scalar>(1 - beta1);
  const Scalar keep2 = static_cast<Scalar>(beta2), new2 = static_cast<Scalar>(1 - beta2);
  const Scalar epsilon = static_cast<Scalar>(options.eps());
  Scalar* theta = parameter.data_ptr<Scalar>();
  const Scalar* gradient = parameter.grad().data_ptr<Scalar>();
  Scalar* first = state.exp_avg().data_ptr<Scalar>();
  Scalar* second = state.exp_avg_sq().data_ptr<Scalar>();
  for (int64_t i = 0; i < parameter.numel(); ++i) {
    first[i] = keep1 * first[i] + new1 * gradient[i];
    second[i] = keep2 * second[i] + new2 * gradient[i] * gradient[i];
    theta[i] -= step_size * first[i] / (std::sqrt(second[i]) / correction + epsilon);
  }
}

}  // namespace

double learning_rate_at(const OptimiserOptions& options, int64_t epoch, int64_t epochs) {
  const double done = static_cast<double>(epoch) / static_cast<double>(std::max<int64_t>(1, epochs));
  switch (options.schedule) {
    case LearningRateSchedule::constant:
      break;
    case LearningRateSchedule::cosine: {
      const double fraction = 0.5 * (1 + std::cos(M_PI * done));
      return options.learning_rate * (options.final_fraction + (1 - options.final_fraction) * fraction);
    }
    case LearningRateSchedule::step: {
      double rate = options.learning_rate;
      for (double milestone : options.milestones) {
        if (done >= milestone) rate *= options.step_factor;
      }
      return rate;
    }
  }
  return options.learning_rate;
}

struct Optimiser::State {
  std::unique_ptr<torch::optim::Optimizer> optimiser;
  torch::optim::Adam* small_adam = nullptr;                // the same when it has few weights
  std::vector<torch::optim::AdamParamState*> adam_states;  // libtorch's, one a parameter; empty before its first step

  bool find_adam_states() {
    if (!adam_states.empty()) return true;
    std::vector<torch::optim::AdamParamState*> states;
    for (const at::Tensor& parameter : small_adam->param_groups()[0].params()) {
      states.push_back(find_state(small_adam->state(), parameter));
      if (states.back() == nullptr || !parameter.grad().is_contiguous()) return false;
    }
    adam_states = std::move(states);
    return true;
  }

  /// Adam on a few weights in one loop; libtorch's eight operators a parameter take ten times as long. False when it
  /// must be left to libtorch, as the first step.
  bool step_small_adam() {
    if (small_adam == nullptr || !find_adam_states()) return false;
    const auto& group = small_adam->param_groups()[0];
    const auto& options = static_cast<const torch::optim::AdamOptions&>(group.options());
    for (const at::Tensor& parameter : group.params()) {
      if (!parameter.grad().defined()) return false;
    }
    for (size_t i = 0; i < adam_states.size(); ++i) {
      const at::Tensor& parameter = group.params()[i];
      if (parameter.scalar_type() == at::kFloat)
        step_adam<float>(parameter, *adam_states[i], options);
      else
        step_adam<double>(parameter, *adam_states[i], options);
    }
    return true;
  }
};

Optimiser::Optimiser(std::vector<at::Tensor> parameters, const OptimiserOptions& options)
    : state_(std::make_unique<State>()) {
  state_->optimiser = make(parameters, options);
  if (is_small(parameters)) state_->small_adam = dynamic_cast<torch::optim::Adam*>(state_->optimiser.get());
}

Optimiser::~Optimiser() = default;
Optimiser::Optimiser(Optimiser&&) noexcept = default;

void Optimiser::set_learning_rate(double rate) {
  for (auto& group : state_->optimiser->param_groups()) group.options().set_lr(rate);
}

void Optimiser::zero_gradients() { state_->optimiser->zero_grad(); }

void Optimiser::step() {
  if (!state_->step_small_adam()) state_->optimiser->step();
}

std::string Optimiser::save() const {
  torch::serialize::OutputArchive archive;
  state_->optimiser->save(archive);
  std::ostringstream bytes;
  archive.save_to(bytes);
  return bytes.str();
}

void Optimiser::restore(const std::string& state) {
  std::istringstream bytes(state);
  torch::serialize::InputArchive archive;
  archive.load_from(bytes);
  state_->adam_states.clear();
  state_->optimiser->state().clear();  // loading leaves what the archive does not name
  state_->optimiser->load(archive);
}

}  // namespace ockham
