#include "ockham/train/online_checkpoint.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "ockham/base/error.h"

namespace ockham {
namespace {

using Member = at::Tensor Hyperparameters::*;
const std::pair<const char*, Member> kMembers[] = {{"log_prior_precision", &Hyperparameters::log_prior_precision},
                                                   {"log_noise", &Hyperparameters::log_noise},
                                                   {"log_temperature", &Hyperparameters::log_temperature}};

/// Undefined tensors (a moment before its first step) are left out.
void put(Checkpoint& checkpoint, const std::string& name, const Hyperparameters& values) {
  for (const auto& [word, member] : kMembers)
    if ((values.*member).defined()) checkpoint.tensors[name + "." + word] = values.*member;
}

Hyperparameters take(const Checkpoint& checkpoint, const std::string& name) {
  Hyperparameters values;
  for (const auto& [word, member] : kMembers) {
    const auto found = checkpoint.tensors.find(name + "." + word);
    if (found != checkpoint.tensors.end()) values.*member = found->second;
  }
  return values;
}

at::Tensor column(const std::vector<double>& values) { return at::tensor(at::ArrayRef<double>(values), at::kDouble); }

std::vector<double> numbers(const at::Tensor& column) {
  const at::Tensor values = column.to(at::kDouble).contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

std::string join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  return lines;
}

/// The passes as columns: few tensors, however many passes there are.
void put_passes(Checkpoint& checkpoint, const std::vector<OnlinePass>& passes) {
  std::vector<double> epochs, losses, values, counts, evidences, estimates;
  for (const OnlinePass& pass : passes) {
    epochs.push_back(static_cast<double>(pass.epoch));
    losses.push_back(pass.loss);
    values.push_back(pass.log_evidence);
    counts.push_back(static_cast<double>(pass.evidences.size()));
    evidences.insert(evidences.end(), pass.evidences.begin(), pass.evidences.end());
    estimates.push_back(pass.estimate ? 1 : 0);
  }
  checkpoint.tensors["passes.epoch"] = column(epochs);
  checkpoint.tensors["passes.loss"] = column(losses);
  checkpoint.tensors["passes.log_evidence"] = column(values);
  checkpoint.tensors["passes.steps"] = column(counts);
  checkpoint.tensors["passes.evidences"] = column(evidences);
  checkpoint.tensors["passes.estimate"] = column(estimates);
  if (passes.empty()) return;
  for (const auto& [word, member] : kMembers) {
    std::vector<at::Tensor> rows;
    for (const OnlinePass& pass : passes) rows.push_back(pass.hyperparameters.*member);
    checkpoint.tensors[std::string("passes.") + word] = at::stack(rows);
  }
}

std::vector<OnlinePass> take_passes(const Checkpoint& checkpoint) {
  const std::vector<double> epochs = numbers(checkpoint.tensor("passes.epoch")),
                            losses = numbers(checkpoint.tensor("passes.loss")),
                            values = numbers(checkpoint.tensor("passes.log_evidence")),
                            counts = numbers(checkpoint.tensor("passes.steps")),
                            evidences = numbers(checkpoint.tensor("passes.evidences"));
  // Checkpoints from before there were estimates have none.
  std::vector<double> estimates(epochs.size(), 0);
  if (checkpoint.tensors.count("passes.estimate") > 0) estimates = numbers(checkpoint.tensor("passes.estimate"));
  const auto damaged = [&] {
    return Error(ErrorKind::data,
                 fmt::format("{}: the trace of the passes does not fit together; remove the run directory and start "
                             "again",
                             checkpoint.source));
  };
  for (const size_t size : {losses.size(), values.size(), counts.size(), estimates.size()})
    if (size != epochs.size()) throw damaged();
  std::vector<OnlinePass> passes(epochs.size());
  size_t used = 0;
  for (size_t i = 0; i < passes.size(); ++i) {
    OnlinePass& pass = passes[i];
    // Not (a && b) rather than the opposite: NaN is wrong too.
    constexpr double most_epochs = 0x1p53;
    if (!(epochs[i] >= 0 && epochs[i] <= most_epochs)) throw damaged();
    if (!(counts[i] >= 0 && counts[i] <= static_cast<double>(evidences.size() - used))) throw damaged();
    pass.epoch = static_cast<int64_t>(epochs[i]);
    pass.loss = losses[i];
    pass.log_evidence = values[i];
    pass.estimate = estimates[i] != 0;
    const auto count = static_cast<size_t>(counts[i]);
    pass.evidences.assign(evidences.begin() + used, evidences.begin() + used + count);
    used += count;
  }
  if (passes.empty()) return passes;
  for (const auto& [word, member] : kMembers) {
    const at::Tensor rows = checkpoint.tensor(std::string("passes.") + word);
    if (rows.dim() != 2 || rows.size(0) != static_cast<int64_t>(passes.size())) throw damaged();
    for (size_t i = 0; i < passes.size(); ++i) passes[i].hyperparameters.*member = rows[i].clone();
  }
  return passes;
}

}  // namespace

Checkpoint to_checkpoint(const OnlineState& state) {
  Checkpoint checkpoint;
  checkpoint.counts["epoch"] = state.epoch;
  checkpoint.tensors["theta"] = state.theta;
  checkpoint.bytes["optimiser"] = state.optimiser;
  put(checkpoint, "hyperparameters", state.hyperparameters);
  put(checkpoint, "hyper.first_moment", state.hyper.first_moment);
  put(checkpoint, "hyper.second_moment", state.hyper.second_moment);
  checkpoint.counts["hyper.step"] = state.hyper.step;
  checkpoint.numbers["best.log_evidence"] = state.best.log_evidence;
  checkpoint.counts["best.epoch"] = state.best.epoch;
  if (state.best.mode.defined()) {
    checkpoint.tensors["best.mode"] = state.best.mode;
    put(checkpoint, "best.hyperparameters", state.best.hyperparameters);
  }
  checkpoint.counts["passes_without_rise"] = state.passes_without_rise;
  put_passes(checkpoint, state.passes);
  checkpoint.tensors["losses"] = column(state.losses);
  checkpoint.bytes["messages"] = join(state.messages);
  checkpoint.bytes["failure"] = state.failure;
  checkpoint.numbers["seconds_training"] = state.seconds_training;
  checkpoint.numbers["seconds_curvature"] = state.seconds_curvature;
  return checkpoint;
}

OnlineState online_state(const Checkpoint& checkpoint) {
  OnlineState state;
  state.epoch = checkpoint.count("epoch");
  state.theta = checkpoint.tensor("theta");
  state.optimiser = checkpoint.byte_string("optimiser");
  state.hyperparameters = take(checkpoint, "hyperparameters");
  state.hyper.first_moment = take(checkpoint, "hyper.first_moment");
  state.hyper.second_moment = take(checkpoint, "hyper.second_moment");
  state.hyper.step = checkpoint.count("hyper.step");
  state.best.log_evidence = checkpoint.number("best.log_evidence");
  state.best.epoch = checkpoint.count("best.epoch");
  if (checkpoint.tensors.count("best.mode") > 0) {
    state.best.mode = checkpoint.tensor("best.mode");
    state.best.hyperparameters = take(checkpoint, "best.hyperparameters");
  }
  state.passes_without_rise = checkpoint.count("passes_without_rise");
  state.passes = take_passes(checkpoint);
  state.losses = numbers(checkpoint.tensor("losses"));
  state.messages = split(checkpoint.byte_string("messages"));
  state.failure = checkpoint.byte_string("failure");
  state.seconds_training = checkpoint.number("seconds_training");
  state.seconds_curvature = checkpoint.number("seconds_curvature");
  return state;
}

}  // namespace ockham
