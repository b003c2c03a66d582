#include "tests/properties/random_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <ostream>

#include "ockham/base/random.h"

namespace ockham::properties {
namespace {

using Kind = RandomLayer::Kind;
using Parameters = std::vector<std::pair<std::string, at::Tensor>>;
using Step = std::function<at::Tensor(const at::Tensor&, Trace*)>;

at::Tensor activate(Activation activation, const at::Tensor& x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::tanh:
      return at::tanh(x);
    case Activation::sigmoid:
      return at::sigmoid(x);
    case Activation::softplus:
      return at::softplus(x);
    case Activation::gelu:
      return at::gelu(x);
    case Activation::relu:
      return at::relu(x);
  }
  return x;
}

/// [N, ..., D] to [1, N, S, D].
at::Tensor last_dimension(const at::Tensor& x) { return x.reshape({1, x.size(0), -1, x.size(-1)}); }

/// [N, C, H, W] to [G, N, S, C/G].
at::Tensor channels(const at::Tensor& x, int64_t groups) {
  return x.reshape({x.size(0), groups, x.size(1) / groups, -1}).permute({1, 0, 3, 2});
}

constexpr int64_t kWidestRepeated = 4;  // its weights are as many as the square

struct Window {
  int64_t kernel, stride, padding, dilation;
};

/// The patches [G, N, S, C/G·k·k] that a convolution meets.
at::Tensor patches(const at::Tensor& x, const Window& w, int64_t groups) {
  const at::Tensor columns =
      at::im2col(x, {w.kernel, w.kernel}, {w.dilation, w.dilation}, {w.padding, w.padding}, {w.stride, w.stride});
  return columns.reshape({x.size(0), groups, columns.size(1) / groups, -1}).permute({1, 0, 3, 2});
}

/// Draws parameters and strings layers together.
class Builder {
 public:
  Builder(const RandomCase& random, at::ScalarType type)
      : random_(random), type_(type), generator_(random_stream({static_cast<uint64_t>(random.seed), 1})) {
    width_ = random.features;
    side_ = random.images ? random.positions : 1;
  }

  void add(RandomLayer layer) {
    if (layer.kind == Kind::repeated && width_ > kWidestRepeated) layer.kind = Kind::weighted;
    switch (layer.kind) {
      case Kind::weighted:
      case Kind::repeated:
        random_.images ? add_convolution(layer) : add_linear(layer, layer.kind == Kind::repeated ? 2 : 1);
        break;
      case Kind::transposed:
        random_.images ? add_transposed_convolution(layer) : add_input_major(layer);
        break;
      case Kind::normalised:
        add_normalised(layer);
        break;
      case Kind::shift:
      case Kind::scale:
        add_number(layer);
        break;
      case Kind::norm:
        add_norm();
        break;
    }
    const Activation activation = layer.activation;
    steps_.push_back([activation](const at::Tensor& x, Trace*) { return activate(activation, x); });
  }

  void add_head() {
    if (random_.images)
      steps_.push_back([](const at::Tensor& x, Trace*) { return x.mean({2, 3}); });
    else if (random_.positions > 1)
      steps_.push_back([](const at::Tensor& x, Trace*) { return x.mean(1); });
    RandomLayer head;
    head.width = random_.outputs;
    head.bias = random_.output_bias;
    add_linear(head, 1);
  }

  Parameters parameters() const { return parameters_; }
  std::vector<Step> steps() const { return steps_; }

 private:
  struct Slot {
    size_t index;
    at::Tensor value;
  };
  Slot draw(const std::string& name, std::vector<int64_t> shape, double mean, double deviation) {
    const at::Tensor value = (mean + deviation * at::randn(shape, generator_, at::kDouble)).to(at::kFloat).to(type_);
    parameters_.emplace_back(fmt::format("{}.{}", name, parameters_.size()), value.set_requires_grad(true));
    return {parameters_.size() - 1, value};
  }
  /// Outputs of about the size of the inputs, however many these are.
  Slot draw_weight(std::vector<int64_t> shape, int64_t inputs) {
    return draw("weight", std::move(shape), 0, 1 / std::sqrt(static_cast<double>(inputs)));
  }
  Slot draw_bias(bool wanted, int64_t size) { return wanted ? draw("bias", {size}, 0, 0.4) : Slot{0, at::Tensor()}; }

  static void trace_bias(Trace* trace, const Slot& bias, const at::Tensor& output, bool images) {
    if (trace == nullptr || !bias.value.defined()) return;
    trace->push_back({bias.index, true, true, {}, output, [images](const at::Tensor& gradient) {
                        return images ? channels(gradient, 1) : last_dimension(gradient);
                      }});
  }

  void add_linear(const RandomLayer& layer, int uses) {
    const int64_t out = uses > 1 ? width_ : layer.width;
    const Slot weight = draw_weight({out, width_}, width_), bias = draw_bias(layer.bias, out);
    const Step once = [weight, bias](const at::Tensor& x, Trace* trace) {
      const at::Tensor y = at::linear(x, weight.value, bias.value);
      if (trace != nullptr) trace->push_back({weight.index, false, true, last_dimension(x), y, last_dimension});
      trace_bias(trace, bias, y, false);
      return y;
    };
    repeat(once, uses, layer.activation);
    width_ = out;
  }

  void repeat(const Step& once, int uses, Activation between) {
    steps_.push_back(once);
    if (uses == 1) return;
    steps_.push_back([between](const at::Tensor& x, Trace*) { return activate(between, x); });
    steps_.push_back(once);
  }

  void add_input_major(const RandomLayer& layer) {
    const Slot weight = draw_weight({width_, layer.width}, width_), bias = draw_bias(layer.bias, layer.width);
    steps_.push_back([weight, bias](const at::Tensor& x, Trace* trace) {
      at::Tensor y = at::matmul(x, weight.value);
      if (trace != nullptr) trace->push_back({weight.index, false, false, last_dimension(x), y, last_dimension});
      if (bias.value.defined()) y = y + bias.value;
      trace_bias(trace, bias, y, false);
      return y;
    });
    width_ = layer.width;
  }

  void add_convolution(const RandomLayer& layer) {
    const bool repeated = layer.kind == Kind::repeated;
    const int64_t groups = width_ % layer.groups == 0 ? layer.groups : 1;
    const int64_t out = repeated ? width_ : (layer.width + groups - 1) / groups * groups;
    Window w{layer.kernel, layer.stride, layer.padding, layer.dilation};
    if (repeated) w = {layer.kernel / 2 * 2 + 1, 1, layer.kernel / 2, 1};  // the shape stays
    while (w.dilation * (w.kernel - 1) + 1 > side_ + 2 * w.padding) w.dilation > 1 ? --w.dilation : --w.kernel;
    side_ = (side_ + 2 * w.padding - w.dilation * (w.kernel - 1) - 1) / w.stride + 1;
    const int64_t inputs = width_ / groups;
    const Slot weight = draw_weight({out, inputs, w.kernel, w.kernel}, inputs * w.kernel * w.kernel),
               bias = draw_bias(layer.bias, out);
    const Step once = [weight, bias, w, groups](const at::Tensor& x, Trace* trace) {
      const at::Tensor y = at::conv2d(x, weight.value, bias.value, w.stride, w.padding, w.dilation, groups);
      if (trace != nullptr)
        trace->push_back({weight.index, false, true, patches(x, w, groups), y,
                          [groups](const at::Tensor& gradient) { return channels(gradient, groups); }});
      trace_bias(trace, bias, y, true);
      return y;
    };
    repeat(once, repeated ? 2 : 1, layer.activation);
    width_ = out;
  }

  void add_transposed_convolution(const RandomLayer& layer) {
    const int64_t groups = width_ % layer.groups == 0 ? layer.groups : 1;
    const int64_t out = (layer.width + groups - 1) / groups * groups;
    Window w{layer.kernel, layer.stride, layer.padding, layer.dilation};
    const auto side = [&] { return (side_ - 1) * w.stride - 2 * w.padding + w.dilation * (w.kernel - 1) + 1; };
    while (side() < 1) --w.padding;
    side_ = side();
    const Slot weight = draw_weight({width_, out / groups, w.kernel, w.kernel}, width_ / groups * w.kernel),
               bias = draw_bias(layer.bias, out);
    steps_.push_back([weight, bias, w, groups](const at::Tensor& x, Trace* trace) {
      const at::Tensor y =
          at::conv_transpose2d(x, weight.value, bias.value, w.stride, w.padding, 0, groups, w.dilation);
      if (trace != nullptr)
        trace->push_back({weight.index, false, false, channels(x, groups), y,
                          [w, groups](const at::Tensor& gradient) { return patches(gradient, w, groups); }});
      trace_bias(trace, bias, y, true);
      return y;
    });
    width_ = out;
  }

  void add_normalised(const RandomLayer& layer) {
    std::vector<int64_t> shape = {layer.width, width_};
    if (random_.images) shape.insert(shape.end(), {1, 1});
    const Slot weight = draw_weight(shape, width_);
    steps_.push_back([weight, images = random_.images](const at::Tensor& x, Trace*) {
      const at::Tensor normalised = weight.value / weight.value.norm();
      return images ? at::conv2d(x, normalised) : at::linear(x, normalised);
    });
    width_ = layer.width;
  }

  void add_number(const RandomLayer& layer) {
    // Added to a single output a number is the bias of the layer before, with a bias's rule.
    const bool scale = layer.kind == Kind::scale || width_ == 1;
    const Slot number = draw(scale ? "scale" : "shift", {1}, scale ? 1 : 0, 0.3);
    steps_.push_back(
        [number, scale](const at::Tensor& x, Trace*) { return scale ? x * number.value : x + number.value; });
  }

  void add_norm() {
    const Slot gain = draw("gain", {width_}, 1, 0.3), offset = draw("offset", {width_}, 0, 0.3);
    // A large epsilon: of one or two numbers the normalised ones are signs, where derivatives vanish or explode.
    constexpr double epsilon = 0.5;
    steps_.push_back([gain, offset, images = random_.images, width = width_](const at::Tensor& x, Trace*) {
      return images ? at::group_norm(x, 1, gain.value, offset.value, epsilon)
                    : at::layer_norm(x, {width}, gain.value, offset.value, epsilon);
    });
  }

  const RandomCase& random_;
  at::ScalarType type_;
  at::Generator generator_;
  Parameters parameters_;
  std::vector<Step> steps_;
  int64_t width_ = 1, side_ = 1;
};

Likelihood likelihood_of(const RandomCase& random) {
  switch (random.likelihood) {
    case RandomLikelihood::gaussian:
      return Gaussian{};
    case RandomLikelihood::gaussian_per_output:
      return Gaussian{true};
    case RandomLikelihood::categorical:
      return Categorical{};
    case RandomLikelihood::bernoulli:
      return Bernoulli{};
    case RandomLikelihood::poisson:
      break;
  }
  return Poisson{};
}

Prior prior_of(PriorKind kind, const ParameterLayout& layout, const std::vector<std::vector<size_t>>& blocks) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  switch (kind) {
    case PriorKind::scalar:
      return Prior::scalar(layout);
    case PriorKind::layerwise:
      return Prior::layerwise(layout);
    case PriorKind::diagonal:
      return Prior::diagonal(layout);
    case PriorKind::ard:
      return Prior::ard(layout);
    case PriorKind::groups:
      break;
  }
  for (const auto& block : blocks) {
    groups.emplace_back(fmt::format("group {}", groups.size()), std::vector<std::string>());
    for (const size_t parameter : block) groups.back().second.push_back(layout[parameter].name);
  }
  return Prior::grouped(layout, groups);
}

}  // namespace

RandomModel make_model(const RandomCase& given, bool float32) {
  RandomCase random = given;
  if (random.likelihood == RandomLikelihood::bernoulli) random.outputs = 1;
  if (random.likelihood == RandomLikelihood::categorical) random.outputs = std::max(2, random.outputs);
  const at::ScalarType type = float32 ? at::kFloat : at::kDouble;
  Builder builder(random, type);
  for (const RandomLayer& layer : random.layers) builder.add(layer);
  builder.add_head();
  const auto steps = std::make_shared<const std::vector<Step>>(builder.steps());
  const auto pass = [steps](at::Tensor x, Trace* trace) {
    for (const Step& step : *steps) x = step(x, trace);
    return x;
  };
  Network network(builder.parameters(), [pass](const at::Tensor& x) { return pass(x, nullptr); });

  const auto stream = [&](uint64_t key) { return random_stream({static_cast<uint64_t>(random.seed), key}); };
  std::vector<int64_t> shape = {random.examples, random.features};
  if (random.images)
    shape.insert(shape.end(), {random.positions, random.positions});
  else if (random.positions > 1)
    shape.insert(shape.begin() + 1, random.positions);
  const at::Tensor inputs = at::randn(shape, stream(2), at::kDouble).to(at::kFloat).to(type);
  const at::Tensor uniform = at::rand({random.examples, random.outputs}, stream(3), at::kDouble);
  at::Tensor targets = (2 * uniform - 1).to(at::kFloat).to(type);
  if (random.likelihood == RandomLikelihood::categorical)
    targets = (uniform.select(1, 0) * random.outputs).floor().to(at::kLong);
  if (random.likelihood == RandomLikelihood::bernoulli) targets = uniform.round().to(type);
  if (random.likelihood == RandomLikelihood::poisson) targets = (4 * uniform).floor().to(type);

  std::vector<std::vector<size_t>> blocks;
  if (random.prior == PriorKind::groups) {
    blocks.resize(std::min<size_t>(2, network.layout().count()));
    for (size_t i = 0; i < network.layout().count(); ++i) blocks[i % blocks.size()].push_back(i);
  }
  const Likelihood likelihood = likelihood_of(random);
  const Prior prior = prior_of(random.prior, network.layout(), blocks);
  Hyperparameters values = default_likelihood_hyperparameters(likelihood, random.outputs);
  values.log_prior_precision = at::randn({prior.size()}, stream(4), at::kDouble);
  values.log_noise =
      values.log_noise + 0.1 * random.log_noise + 0.2 * at::arange(values.log_noise.numel(), at::kDouble);
  values.log_temperature = values.log_temperature + 0.1 * random.log_temperature;
  return {{network, likelihood, prior, values},
          Dataset(inputs, targets),
          [pass](const at::Tensor& x, Trace& trace) { return pass(x, &trace); },
          blocks};
}

std::ostream& operator<<(std::ostream& out, const RandomCase& random) {
  const char* kinds[] = {"weighted", "transposed", "repeated", "normalised", "shift", "scale", "norm"};
  const char* activations[] = {"none", "tanh", "sigmoid", "softplus", "gelu", "relu"};
  const char* likelihoods[] = {"gaussian", "gaussian_per_output", "categorical", "bernoulli", "poisson"};
  const char* priors[] = {"scalar", "layerwise", "diagonal", "ard", "groups"};
  out << fmt::format("{} {} {} examples of {} features, positions {}\n", random.float32 ? "float32" : "float64",
                     random.images ? "images," : "table,", random.examples, random.features, random.positions);
  for (const RandomLayer& l : random.layers)
    out << fmt::format("  {} width {}{} {} kernel {} stride {} padding {} dilation {} groups {}\n",
                       kinds[static_cast<int>(l.kind)], l.width, l.bias ? " bias" : "",
                       activations[static_cast<int>(l.activation)], l.kernel, l.stride, l.padding, l.dilation,
                       l.groups);
  return out << fmt::format(
             "  head of {} outputs{}\n  {} likelihood, {} prior, log noise {:.1f}, log temperature {:.1f}, log weight "
             "{:.1f}, batches of {}, seed {}",
             random.outputs, random.output_bias ? " bias" : "", likelihoods[static_cast<int>(random.likelihood)],
             priors[static_cast<int>(random.prior)], 0.1 * random.log_noise, 0.1 * random.log_temperature,
             0.1 * random.likelihood_weight, random.batch_size, random.seed);
}

}  // namespace ockham::properties
