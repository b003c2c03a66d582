#include "app/fit_preset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ockham::app {

void apply_preset(FitFlags& flags, Messages& messages) {
  if (flags.preset == PresetChoice::none) return;
  const bool architectures = flags.preset == PresetChoice::paper_architectures;
  const bool residual = std::any_of(flags.networks.begin(), flags.networks.end(),
                                    [](const std::string& name) { return name.rfind("resnet", 0) == 0; });
  std::vector<std::string> filled;
  const auto fill = [&](auto& place, auto value, const char* flag) {
    if (place) return;
    place = value;
    filled.push_back(fmt::format("--{} {}", flag, value));
  };
  const auto say = [&](const std::string& flag) { filled.push_back("--" + flag); };

  fill(flags.epochs, int64_t{architectures ? 250 : 300}, "epochs");
  fill(flags.batch_size, int64_t{128}, "batch-size");
  if (flags.optimizer == OptimizerChoice::unset) {
    flags.optimizer = residual || architectures ? OptimizerChoice::sgd : OptimizerChoice::adam;
    say(flags.optimizer == OptimizerChoice::sgd ? "optimizer sgd" : "optimizer adam");
  }
  fill(flags.lr, flags.optimizer == OptimizerChoice::sgd ? 0.01 : 0.001, "lr");
  if (flags.lr_schedule == ScheduleChoice::unset) {
    flags.lr_schedule = ScheduleChoice::step;
    say("lr-schedule step");
  }
  if (flags.lr_milestones.empty() && flags.lr_schedule == ScheduleChoice::step) {
    flags.lr_milestones = {150.0 / 300, 225.0 / 300, 275.0 / 300};
    say(fmt::format("lr-milestones {:.4g}", fmt::join(flags.lr_milestones, ",")));
  }
  fill(flags.burn_in, int64_t{0}, "burn-in");
  fill(flags.frequency, int64_t{architectures ? 5 : 10}, "frequency");
  fill(flags.hyper_steps, int64_t{100}, "hyper-steps");
  fill(flags.hyper_lr, 1.0, "hyper-lr");
  fill(flags.best_after, int64_t{0}, "best-after");
  if (flags.structure == StructureChoice::unset) {
    flags.structure = StructureChoice::kron;
    say("structure kron");
  }
  if (!flags.kronecker_given && flags.structure == StructureChoice::kron) {
    flags.kronecker = KroneckerChoice::paper;
    say("kron-approx paper");
  }
  if (flags.prior_precision.empty()) {
    flags.prior_precision = {1};
    say("prior-precision 1");
  }
  if (flags.augment != AugmentChoice::none) fill(flags.likelihood_weight, 5.0, "likelihood-weight");
  if (!filled.empty()) messages.add(fmt::format("preset: {} is {}", word_of(flags.preset), fmt::join(filled, " ")));
}

}  // namespace ockham::app
