#include <ATen/ATen.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <set>
#include <string>

#include "ockham/observe/operator_recorder.h"
#include "ockham/observe/plain_mlp.h"

namespace ockham {
namespace {

using at::Tensor;

struct KnownActivation {
  const char* name;
  std::vector<double> settings;  // its further arguments, which must be these
  PlainMlp::Activation activation;
};

constexpr double kSeluAlpha = 1.6732632423543772848170429916717, kSeluScale = 1.0507009873554804934193349852946;

const std::vector<KnownActivation>& known_activations() {
  static const std::vector<KnownActivation> known = {
      {"aten::relu",
       {},
       {[](Tensor& y, const Tensor& x) { at::clamp_min_out(y, x, 0); },
        [](Tensor& g, const Tensor& h, const Tensor&, const Tensor& y) { at::threshold_backward_out(g, h, y, 0); }}},
      {"aten::tanh",
       {},
       {[](Tensor& y, const Tensor& x) { at::tanh_out(y, x); },
        [](Tensor& g, const Tensor& h, const Tensor&, const Tensor& y) { at::tanh_backward_out(g, h, y); }}},
      {"aten::gelu",
       {},
       {[](Tensor& y, const Tensor& x) { at::gelu_out(y, x); },
        [](Tensor& g, const Tensor& h, const Tensor& x, const Tensor&) { at::gelu_backward_out(g, h, x); }}},
      {"aten::silu",
       {},
       {[](Tensor& y, const Tensor& x) { at::silu_out(y, x); },
        [](Tensor& g, const Tensor& h, const Tensor& x, const Tensor&) { at::silu_backward_out(g, h, x); }}},
      {"aten::sigmoid",
       {},
       {[](Tensor& y, const Tensor& x) { at::sigmoid_out(y, x); },
        [](Tensor& g, const Tensor& h, const Tensor&, const Tensor& y) { at::sigmoid_backward_out(g, h, y); }}},
      {"aten::elu",
       {1, 1, 1},
       {[](Tensor& y, const Tensor& x) { at::elu_out(y, x); },
        [](Tensor& g, const Tensor& h, const Tensor& x, const Tensor&) {
          at::elu_backward_out(g, h, 1, 1, 1, false, x);
        }}},
      {"aten::selu",
       {},
       {[](Tensor& y, const Tensor& x) { at::elu_out(y, x, kSeluAlpha, kSeluScale); },
        [](Tensor& g, const Tensor& h, const Tensor& x, const Tensor&) {
          at::elu_backward_out(g, h, kSeluAlpha, kSeluScale, 1, false, x);
        }}},
      {"aten::softplus",
       {1, 20},
       {[](Tensor& y, const Tensor& x) { at::softplus_out(y, x); },
        [](Tensor& g, const Tensor& h, const Tensor& x, const Tensor&) { at::softplus_backward_out(g, h, x, 1, 20); }}},
      {"aten::leaky_relu",
       {0.01},
       {[](Tensor& y, const Tensor& x) { at::leaky_relu_out(y, x); },
        [](Tensor& g, const Tensor& h, const Tensor& x, const Tensor&) {
          at::leaky_relu_backward_out(g, h, x, 0.01, false);
        }}}};
  return known;
}

/// One outermost operator of a forward pass.
struct Step : at::ObserverContext {
  std::string name;
  std::vector<c10::IValue> arguments;
  std::vector<c10::IValue> outputs;
};

struct Recording {
  int depth = 0;
  std::vector<Step> steps;
};
thread_local Recording* recording = nullptr;

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function) {
  if (recording == nullptr || recording->depth++ > 0) return nullptr;
  auto step = std::make_unique<Step>();
  step->name = function.name();
  auto arguments = function.inputs();
  // A boxed call (TorchScript) shows the whole interpreter stack: the arguments are its end.
  if (arguments.size() > function.num_inputs()) arguments = arguments.slice(arguments.size() - function.num_inputs());
  step->arguments.assign(arguments.begin(), arguments.end());
  return step;
}

void on_end(const at::RecordFunction& function, at::ObserverContext* context) {
  if (recording == nullptr) return;
  --recording->depth;
  if (context == nullptr) return;
  auto& step = *static_cast<Step*>(context);
  const auto& stack = function.outputs();
  const size_t count = std::min<size_t>(stack.size(), function.num_outputs());
  step.outputs.assign(stack.end() - static_cast<std::ptrdiff_t>(count), stack.end());
  recording->steps.push_back(std::move(step));
}

/// Removes the callback whatever the network throws.
struct RecordingScope {
  Recording steps;
  at::CallbackHandle handle;
  RecordingScope() {
    recording = &steps;
    handle = at::addThreadLocalCallback(at::RecordFunctionCallback(on_start, on_end)
                                            .needsInputs(true)
                                            .needsOutputs(true)
                                            .scopes({at::RecordScope::FUNCTION}));
  }
  ~RecordingScope() {
    at::removeCallback(handle);
    recording = nullptr;
  }
};

bool is_tensor(const c10::IValue& value) { return value.isTensor() && value.toTensor().defined(); }

/// The same numbers in the same order: what flatten, view or contiguous give for a table.
bool is_same_table(const Tensor& a, const Tensor& b) {
  return a.data_ptr() == b.data_ptr() && a.sizes() == b.sizes() && a.strides() == b.strides() &&
         a._version() == b._version();
}

/// Operators that leave the numbers as they are. By name: one that works in place also gives what it got.
bool only_looks(const std::string& name) {
  static const std::set<std::string> names = {"aten::t",      "aten::transpose", "aten::flatten",
                                              "aten::view",   "aten::reshape",   "aten::contiguous",
                                              "aten::detach", "aten::alias",     "aten::to"};
  return names.count(name) > 0;
}

bool is_one(const c10::IValue& value) { return value.isScalar() && value.toScalar().toDouble() == 1; }

/// Follows the values from the input on; false as soon as a step is none of a plain MLP.
struct Walk {
  const Network& network;
  const ParameterLookup lookup{network};
  Tensor x;
  std::vector<PlainMlp::Layer> layers;
  std::vector<bool> used = std::vector<bool>(network.layout().count(), false);

  bool take_layer(const c10::IValue& input, int64_t weight, const c10::IValue& bias_value) {
    if (!is_tensor(input) || !is_same_table(input.toTensor(), x) || weight < 0 || !is_tensor(bias_value)) return false;
    const int64_t bias = lookup.exact(bias_value.toTensor());
    if (bias < 0 || used[weight] || used[bias] || network.layout()[bias].shape.size() != 1) return false;
    used[weight] = used[bias] = true;
    layers.push_back({static_cast<size_t>(weight), static_cast<size_t>(bias), {}});
    return true;
  }

  bool take_activation(const Step& step) {
    for (const KnownActivation& known : known_activations()) {
      if (step.name != known.name) continue;
      if (layers.empty() || layers.back().activation.apply != nullptr || !is_tensor(step.arguments[0])) return false;
      if (!is_same_table(step.arguments[0].toTensor(), x)) return false;
      for (size_t i = 1; i < step.arguments.size(); ++i) {
        const c10::IValue& given = step.arguments[i];
        if (given.isString() ? given.toStringRef() != "none"
                             : !given.isScalar() || i > known.settings.size() ||
                                   given.toScalar().toDouble() != known.settings[i - 1])
          return false;
      }
      layers.back().activation = known.activation;
      return true;
    }
    return false;
  }

  bool take(const Step& step) {
    if (step.outputs.size() != 1 || !is_tensor(step.outputs[0]) || step.arguments.empty()) return false;
    const auto& arguments = step.arguments;
    const Tensor output = step.outputs[0].toTensor();
    if (only_looks(step.name) && is_tensor(arguments[0])) {
      const bool parameter = !lookup.sharing(arguments[0].toTensor()).empty() && !lookup.sharing(output).empty();
      return parameter || (is_same_table(arguments[0].toTensor(), x) && is_same_table(output, x));
    }
    bool taken = false;
    if (step.name == "aten::linear" && arguments.size() == 3 && is_tensor(arguments[1])) {
      taken = take_layer(arguments[0], lookup.exact(arguments[1].toTensor()), arguments[2]);
    } else if (step.name == "aten::addmm" && arguments.size() == 5 && is_tensor(arguments[2])) {
      taken = is_one(arguments[3]) && is_one(arguments[4]) &&
              take_layer(arguments[1], lookup.transposed(arguments[2].toTensor()), arguments[0]);
    } else {
      taken = take_activation(step);
    }
    x = output;
    return taken;
  }
};

bool agrees(PlainMlp mlp, const Tensor& inputs, const Tensor& outputs) {
  const Tensor& by_hand = mlp.forward(inputs);
  const double tolerance = outputs.scalar_type() == at::kDouble ? 1e-12 : 1e-4;
  return by_hand.sizes() == outputs.sizes() && at::allclose(by_hand, outputs, tolerance, tolerance);
}

}  // namespace

std::optional<PlainMlp> PlainMlp::recognise(const Network& network, const at::Tensor& inputs) {
  const at::NoGradGuard no_gradients;
  for (const Tensor& parameter : network.parameters()) {
    const bool fits = parameter.is_contiguous() && parameter.device().is_cpu() && parameter.dim() <= 2 &&
                      (parameter.scalar_type() == at::kFloat || parameter.scalar_type() == at::kDouble);
    if (!fits) return std::nullopt;
  }
  if (inputs.dim() != 2 || inputs.scalar_type() != network.dtype()) return std::nullopt;
  std::vector<Step> steps;
  Tensor outputs;
  {
    RecordingScope scope;
    outputs = network.forward(inputs);
    steps = std::move(scope.steps.steps);
  }
  Walk walk{network, ParameterLookup(network), inputs, {}};
  for (const Step& step : steps) {
    if (!walk.take(step)) return std::nullopt;
  }
  const auto& layers = walk.layers;
  const bool all_used = std::all_of(walk.used.begin(), walk.used.end(), [](bool used) { return used; });
  if (layers.empty() || !all_used || layers.back().activation.apply != nullptr || !is_same_table(walk.x, outputs))
    return std::nullopt;
  PlainMlp mlp(network, layers);
  if (!agrees(mlp, inputs, outputs)) return std::nullopt;
  return mlp;
}

}  // namespace ockham
