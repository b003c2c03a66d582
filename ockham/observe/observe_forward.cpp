#include "ockham/observe/observe_forward.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ockham/base/error.h"
#include "ockham/observe/faster_nodes.h"
#include "ockham/observe/gradient_listener.h"
#include "ockham/observe/recognise.h"
#include "ockham/observe/stacked_columns.h"

namespace ockham {

struct Observation::State {
  at::Tensor inputs, outputs;
  std::vector<at::Tensor> parameters;
  std::vector<LayerCall> calls;
  torch::autograd::edge_list edges;  // one per call
  std::unique_ptr<GradientListener> listener;
  std::optional<StackedColumns> stacked;  // before there is a listener, which hangs itself into the graph
  bool asked_for_stacked = false;
  std::vector<size_t> unexplained, unused;
  std::map<size_t, std::string> reasons;
};

const at::Tensor& Observation::inputs() const { return state_->inputs; }
const at::Tensor& Observation::outputs() const { return state_->outputs; }
const std::vector<LayerCall>& Observation::calls() const { return state_->calls; }
const std::vector<size_t>& Observation::unexplained_parameters() const { return state_->unexplained; }
const std::vector<size_t>& Observation::unused_parameters() const { return state_->unused; }

const std::string& Observation::reason(size_t parameter) const {
  static const std::string none;
  auto found = state_->reasons.find(parameter);
  return found == state_->reasons.end() ? none : found->second;
}

std::vector<at::Tensor> Observation::backward(const at::Tensor& column) const {
  if (state_->edges.empty()) return {};
  // Asking for gradients at edges, not at tensors: an in-place activation replaces a tensor's own edge. Weight
  // gradients are not computed, since nobody asks for them.
  return torch::autograd::Engine::get_default_engine().execute({torch::autograd::impl::gradient_edge(state_->outputs)},
                                                               {column}, /*keep_graph=*/true, /*create_graph=*/false,
                                                               /*accumulate_grad=*/false, state_->edges);
}

void Observation::backward(const at::Tensor& column, const EachGradient& each) const {
  if (state_->edges.empty()) return;
  const torch::autograd::Edge root = torch::autograd::impl::gradient_edge(state_->outputs);
  if (!state_->listener) {
    use_faster_nodes(root.function.get(), state_->edges);
    state_->listener = std::make_unique<GradientListener>(root, state_->edges);
  }
  state_->listener->backward(column, each);
}

bool Observation::backward_together(const at::Tensor& columns, const EachGradient& each) const {
  if (!state_->asked_for_stacked && !state_->edges.empty() && !state_->listener)
    state_->stacked = StackedColumns::along(torch::autograd::impl::gradient_edge(state_->outputs), state_->edges);
  state_->asked_for_stacked = true;
  if (!state_->stacked) return false;
  state_->stacked->backward(columns, each);
  return true;
}

std::vector<at::Tensor> Observation::parameter_gradients(const at::Tensor& column,
                                                         const std::vector<size_t>& parameters) const {
  std::vector<at::Tensor> inputs;
  for (size_t index : parameters) inputs.push_back(state_->parameters[index]);
  auto gradients =
      torch::autograd::grad({state_->outputs}, inputs, {column}, /*retain_graph=*/true, /*create_graph=*/false,
                            /*allow_unused=*/true);
  for (at::Tensor& gradient : gradients) {
    if (gradient.defined() && gradient.is_sparse()) gradient = gradient.to_dense();
  }
  return gradients;
}

bool Observation::follow(const Observation& verified) {
  const auto& pattern = verified.calls();
  if (state_->unexplained != verified.unexplained_parameters() || state_->calls.size() != pattern.size()) return false;
  const auto same_use = [](const ParameterUse& a, const ParameterUse& b) {
    return a.parameter == b.parameter && a.how.index() == b.how.index();
  };
  for (size_t c = 0; c < pattern.size(); ++c) {
    LayerCall& call = state_->calls[c];
    const auto &uses = call.uses, &others = pattern[c].uses;
    const int64_t dimension = pattern[c].batch_dimension;
    if (call.operator_name != pattern[c].operator_name || call.output_shape.size() != pattern[c].output_shape.size() ||
        call.output_shape[dimension] % call.examples != 0 ||
        !std::equal(uses.begin(), uses.end(), others.begin(), others.end(), same_use)) {
      return false;
    }
    call.batch_dimension = dimension;
  }
  return true;
}

namespace {

void check_outputs(at::Tensor& outputs, int64_t examples) {
  if (outputs.dim() == 1 && outputs.size(0) == examples) outputs = outputs.unsqueeze(1);
  if (outputs.dim() != 2 || outputs.size(0) != examples) {
    throw Error(ErrorKind::data,
                fmt::format("The network maps {} examples to an output of shape [{}]; it must give one row of C "
                            "outputs per example, [N, C].",
                            examples, fmt::join(outputs.sizes(), ", ")));
  }
  if (!outputs.requires_grad()) {
    throw Error(
        ErrorKind::data,
        "The network's output does not depend on any of its parameters through autograd; it was frozen, or runs "
        "without gradients inside, so that it has no curvature.");
  }
}

void explain(const std::vector<OperatorRecord>& records, const ParameterLookup& lookup, int64_t examples,
             const ObserveOptions& options, std::vector<RecognisedCall>& calls,
             std::map<size_t, std::string>& reasons) {
  for (const OperatorRecord& record : records) {
    if (!record.output_edge.is_valid()) {
      for (size_t index : record.touched) reasons.emplace(index, record.name + " uses it outside autograd");
      continue;
    }
    RecogniseContext context{record, lookup, examples, calls};
    const bool recognised =
        std::any_of(recognisers().begin(), recognisers().end(), [&](const NamedRecogniser& recogniser) {
          const auto& without = options.without_recognisers;
          if (std::find(without.begin(), without.end(), recogniser.name) != without.end()) return false;
          return recogniser.recognise(context);
        });
    if (recognised) continue;
    for (size_t index : record.touched)
      reasons.emplace(index, record.name + " uses it in a way that is not recognised");
  }
  for (const RecognisedCall& call : calls) {
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      if (call.inputs[i]._version() == call.versions[i]) continue;
      for (const ParameterUse& use : call.call.uses) {
        reasons.emplace(use.parameter, "the input of " + call.call.operator_name + " was changed in place afterwards");
      }
    }
  }
}

}  // namespace

Observation observe_forward(const Network& network, const at::Tensor& inputs, const ObserveOptions& options) {
  const int64_t examples = inputs.size(0);
  const ParameterLookup lookup(network);
  auto state = std::make_shared<Observation::State>();
  state->parameters = network.parameters();
  state->inputs = inputs;

  at::AutoGradMode with_gradients(true);
  OperatorRecorder recorder(lookup);
  state->outputs = network.forward(inputs);
  const std::vector<OperatorRecord> records = recorder.finish();
  if (!recorder.forbidden().empty()) {
    throw Error(ErrorKind::data,
                fmt::format("The network cannot be used: {}. Put it into evaluation mode (eval()) before it "
                            "is saved or observed.",
                            recorder.forbidden()));
  }
  check_outputs(state->outputs, examples);

  std::vector<RecognisedCall> calls;
  explain(records, lookup, examples, options, calls, state->reasons);
  for (size_t index : options.leave_unexplained)
    state->reasons.emplace(index, "its recognised uses do not give its gradient");
  std::set<size_t> seen;
  for (const OperatorRecord& record : records) seen.insert(record.touched.begin(), record.touched.end());
  for (const auto& [index, reason] : state->reasons) state->unexplained.push_back(index);
  for (size_t i = 0; i < network.layout().count(); ++i) {
    if (seen.count(i) == 0) state->unused.push_back(i);
  }
  for (RecognisedCall& recognised : calls) {
    // A parameter with one unexplained use is left to the fallback as a whole.
    auto& uses = recognised.call.uses;
    uses.erase(std::remove_if(uses.begin(), uses.end(),
                              [&](const ParameterUse& use) { return state->reasons.count(use.parameter) > 0; }),
               uses.end());
    if (uses.empty()) continue;
    state->calls.push_back(std::move(recognised.call));
    state->edges.push_back(recognised.output_edge);
  }
  return Observation(std::move(state));
}

}  // namespace ockham
