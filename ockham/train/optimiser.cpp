#include "ockham/train/optimiser.h"

#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>
#include <torch/serialize.h>

#include <cmath>
#include <cstring>
#include <sstream>
#include <type_traits>

#include "ockham/base/error.h"
#include "ockham/network/torchscript.h"

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

// libtorch 1.13 knows a parameter by the text of its address, libtorch 2 by the address.
template <class States>
typename States::key_type key_of(const at::Tensor& parameter) {
  if constexpr (std::is_same_v<typename States::key_type, std::string>) {
    std::ostringstream text;
    text << parameter.unsafeGetTensorImpl();
    return text.str();
  } else {
    return parameter.unsafeGetTensorImpl();
  }
}

// What libtorch keeps for a parameter; null before its first step.
template <class Kept, class States>
Kept* find_state(States& states, const at::Tensor& parameter) {
  const auto found = states.find(key_of<States>(parameter));
  return found == states.end() ? nullptr : static_cast<Kept*>(found->second.get());
}

constexpr const char* adam_magic = "ockham adam 1\n";
constexpr const char* sgd_magic = "ockham sgd 1\n";

/// Plain bytes, one piece after the other: nothing in them can be a program.
struct StateWriter {
  std::string bytes;
  void put(const void* data, size_t count) { bytes.append(static_cast<const char*>(data), count); }
  void put(const at::Tensor& values) {
    const at::Tensor plain = values.contiguous();
    put(plain.data_ptr(), static_cast<size_t>(plain.nbytes()));
  }
};

/// Refuses what is shorter or longer than these parameters need.
class StateReader {
 public:
  explicit StateReader(const std::string& bytes) : bytes_(bytes) {}
  bool starts_with(const char* magic) {
    if (bytes_.compare(0, std::strlen(magic), magic) != 0) return false;
    used_ = std::strlen(magic);
    return true;
  }
  void take(void* target, size_t count) {
    if (count > bytes_.size() - used_) refuse();
    if (count > 0) std::memcpy(target, bytes_.data() + used_, count);
    used_ += count;
  }
  at::Tensor take_like(const at::Tensor& parameter) {
    const at::Tensor plain = at::empty(parameter.sizes(), parameter.options().requires_grad(false));
    take(plain.data_ptr(), static_cast<size_t>(plain.nbytes()));
    return at::empty_like(parameter.detach(), at::MemoryFormat::Preserve).copy_(plain);
  }
  bool take_flag() {
    char flag = 0;
    take(&flag, 1);
    if (flag != 0 && flag != 1) refuse();
    return flag == 1;
  }
  void expect_end() {
    if (used_ != bytes_.size()) refuse();
  }
  [[noreturn]] static void refuse() {
    throw Error(ErrorKind::data,
                "the state of the optimiser in the checkpoint does not fit the network; remove the run directory and "
                "start again");
  }

 private:
  const std::string& bytes_;
  size_t used_ = 0;
};

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
      states.push_back(find_state<torch::optim::AdamParamState>(small_adam->state(), parameter));
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

double Optimiser::step_per_gradient() const {
  const auto* sgd = dynamic_cast<torch::optim::SGD*>(state_->optimiser.get());
  return sgd == nullptr ? 0 : sgd->param_groups()[0].options().get_lr();
}

void Optimiser::zero_gradients() { state_->optimiser->zero_grad(); }

void Optimiser::step() {
  if (!state_->step_small_adam()) state_->optimiser->step();
}

std::string Optimiser::save() const {
  auto& states = state_->optimiser->state();
  const bool is_adam = dynamic_cast<torch::optim::Adam*>(state_->optimiser.get()) != nullptr;
  StateWriter writer{is_adam ? adam_magic : sgd_magic};
  for (const at::Tensor& parameter : state_->optimiser->param_groups()[0].params()) {
    if (is_adam) {
      auto* kept = find_state<torch::optim::AdamParamState>(states, parameter);
      const char there = kept != nullptr;
      writer.put(&there, 1);
      if (kept == nullptr) continue;
      const int64_t step = kept->step();
      writer.put(&step, sizeof step);
      writer.put(kept->exp_avg());
      writer.put(kept->exp_avg_sq());
    } else {
      auto* kept = find_state<torch::optim::SGDParamState>(states, parameter);
      const char there = kept != nullptr && kept->momentum_buffer().defined();
      writer.put(&there, 1);
      if (there != 0) writer.put(kept->momentum_buffer());
    }
  }
  return writer.bytes;
}

void Optimiser::restore(const std::string& state) {
  auto& states = state_->optimiser->state();
  const bool is_adam = dynamic_cast<torch::optim::Adam*>(state_->optimiser.get()) != nullptr;
  StateReader reader(state);
  state_->adam_states.clear();
  states.clear();
  if (state.compare(0, 2, "PK") == 0) return restore_archive(state);
  if (!reader.starts_with(is_adam ? adam_magic : sgd_magic)) StateReader::refuse();
  using States = std::remove_reference_t<decltype(states)>;
  for (const at::Tensor& parameter : state_->optimiser->param_groups()[0].params()) {
    if (!reader.take_flag()) continue;
    if (is_adam) {
      auto kept = std::make_unique<torch::optim::AdamParamState>();
      int64_t step = 0;
      reader.take(&step, sizeof step);
      if (step < 0 || step == INT64_MAX) StateReader::refuse();
      kept->step(step);
      kept->exp_avg(reader.take_like(parameter));
      kept->exp_avg_sq(reader.take_like(parameter));
      states[key_of<States>(parameter)] = std::move(kept);
    } else {
      auto kept = std::make_unique<torch::optim::SGDParamState>();
      kept->momentum_buffer(reader.take_like(parameter));
      states[key_of<States>(parameter)] = std::move(kept);
    }
  }
  reader.expect_end();
}

void Optimiser::restore_archive(const std::string& state) {
  expect_torchscript_allowed("the checkpoint of an earlier version");  // its archives are TorchScript
  std::istringstream bytes(state);
  torch::serialize::InputArchive archive;
  archive.load_from(bytes);
  state_->optimiser->load(archive);
}

}  // namespace ockham
