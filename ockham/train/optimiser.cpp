#include "ockham/train/optimiser.h"

#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>
#include <torch/serialize.h>

#include <cmath>
#include <sstream>

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
};

Optimiser::Optimiser(std::vector<at::Tensor> parameters, const OptimiserOptions& options)
    : state_(std::make_unique<State>()) {
  state_->optimiser = make(parameters, options);
}

Optimiser::~Optimiser() = default;
Optimiser::Optimiser(Optimiser&&) noexcept = default;

void Optimiser::set_learning_rate(double rate) {
  for (auto& group : state_->optimiser->param_groups()) group.options().set_lr(rate);
}

void Optimiser::zero_gradients() { state_->optimiser->zero_grad(); }

void Optimiser::step() { state_->optimiser->step(); }

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
  state_->optimiser->state().clear();  // loading leaves what the archive does not name
  state_->optimiser->load(archive);
}

}  // namespace ockham
