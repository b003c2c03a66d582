#include "ockham/network/architectures.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "ockham/base/error.h"
#include "ockham/base/nearest_word.h"
#include "ockham/network/convnet.h"
#include "ockham/network/fixup_cnn.h"
#include "ockham/network/fixup_resnet.h"
#include "ockham/network/initialise.h"

namespace ockham {
namespace {

using Activation = at::Tensor (*)(const at::Tensor&);

const std::vector<std::pair<std::string, Activation>>& activations() {
  static const std::vector<std::pair<std::string, Activation>> known = {
      {"relu", [](const at::Tensor& x) { return x.relu(); }},
      {"tanh", [](const at::Tensor& x) { return x.tanh(); }},
      {"gelu", [](const at::Tensor& x) { return at::gelu(x); }},
      {"silu", [](const at::Tensor& x) { return at::silu(x); }},
      {"sigmoid", [](const at::Tensor& x) { return x.sigmoid(); }},
      {"elu", [](const at::Tensor& x) { return at::elu(x); }},
      {"selu", [](const at::Tensor& x) { return at::selu(x); }},
      {"softplus", [](const at::Tensor& x) { return at::softplus(x); }},
      {"leaky_relu", [](const at::Tensor& x) { return at::leaky_relu(x); }},
      {"identity", [](const at::Tensor& x) { return x; }}};
  return known;
}

/// Refuses one word of a spec, with the nearest of the right ones when it looks like a slip.
[[noreturn]] void refuse_word(const std::string& spec, const std::string& what, const std::string& word,
                              const std::vector<std::string>& known) {
  throw Error(ErrorKind::usage, fmt::format("network '{}': unknown {} '{}' (known: {}){}", spec, what, word,
                                            fmt::join(known, ", "), did_you_mean(word, known)));
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != std::string::npos; begin = end + 1) {
    parts.push_back(text.substr(begin, end - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

int64_t positive_number(const std::string& spec, const std::string& text) {
  int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || value < 1) {
    throw Error(ErrorKind::usage, fmt::format("network '{}': '{}' should be a positive whole number", spec, text));
  }
  constexpr int64_t largest = 1'000'000'000;
  if (value > largest)
    throw Error(ErrorKind::usage, fmt::format("network '{}': {} is more than any machine holds", spec, text));
  return value;
}

struct Mlp {
  std::vector<int64_t> hidden;  // empty: a linear network
  Activation activation = activations()[0].second;
};
struct Parsed {
  std::string kind;  // linear | mlp | cnn | resnet
  Mlp mlp;
  std::optional<FixupCnnOptions> cnn;  // absent: 3c3d
  FixupResNetOptions resnet;
};

void parse_mlp(const std::string& spec, const std::vector<std::string>& items, Mlp& mlp) {
  for (const auto& item : items) {
    const auto equals = item.find('=');
    if (equals == std::string::npos) {
      if (!mlp.hidden.empty())
        throw Error(ErrorKind::usage,
                    fmt::format("network '{}': join the hidden widths by '-', as in mlp:50-50", spec));
      for (const auto& width : split(item, '-')) mlp.hidden.push_back(positive_number(spec, width));
      continue;
    }
    const std::string key = item.substr(0, equals), value = item.substr(equals + 1);
    if (key != "act") refuse_word(spec, "key", key, {"act"});
    std::vector<std::string> names;
    bool found = false;
    for (const auto& [name, activation] : activations()) {
      names.push_back(name);
      if (name == value) {
        mlp.activation = activation;
        found = true;
      }
    }
    if (!found) refuse_word(spec, "activation", value, names);
  }
  if (mlp.hidden.empty())
    throw Error(ErrorKind::usage, fmt::format("network '{}': an mlp needs its hidden widths, as in mlp:50-50", spec));
}

template <class Options>
void parse_width_and_depth(const std::string& spec, const std::vector<std::string>& items, Options& options) {
  for (const auto& item : items) {
    if (item.empty()) continue;
    const auto equals = item.find('=');
    const std::string key = item.substr(0, equals);
    if (key != "depth" && key != "width") refuse_word(spec, "key", key, {"depth", "width"});
    const int64_t value = positive_number(spec, equals == std::string::npos ? "" : item.substr(equals + 1));
    (key == "depth" ? options.depth : options.width) = value;
  }
}

void parse_cnn(const std::string& spec, const std::vector<std::string>& items, Parsed& parsed) {
  if (items.size() == 1 && items[0] == "3c3d") return;
  const std::string first = items.empty() ? "" : items[0];
  const bool named = first.find('=') == std::string::npos && first != "width" && first != "depth";
  if (named) refuse_word(spec, "convolutional network", first, {"3c3d", "width=16,depth=3"});
  parse_width_and_depth(spec, items, parsed.cnn.emplace());
}

Parsed parse(const std::string& spec) {
  Parsed parsed;
  const auto colon = spec.find(':');
  parsed.kind = spec.substr(0, colon);
  const std::vector<std::string> items =
      colon == std::string::npos ? std::vector<std::string>() : split(spec.substr(colon + 1), ',');
  if (parsed.kind == "linear") {
    if (colon != std::string::npos)
      throw Error(ErrorKind::usage, fmt::format("network '{}': 'linear' takes no settings", spec));
  } else if (parsed.kind == "mlp") {
    parse_mlp(spec, items, parsed.mlp);
  } else if (parsed.kind == "cnn") {
    parse_cnn(spec, items, parsed);
  } else if (parsed.kind == "resnet") {
    parse_width_and_depth(spec, items, parsed.resnet);
  } else {
    refuse_word(spec, "kind", parsed.kind, {"linear", "mlp", "cnn", "resnet"});
  }
  return parsed;
}

Network make_mlp(const Mlp& mlp, int64_t features, int64_t outputs, ParameterMaker maker) {
  std::vector<LayerParameters> layers;
  for (size_t i = 0; i < mlp.hidden.size(); ++i) {
    layers.push_back(maker.layer(fmt::format("hidden{}", i + 1), {mlp.hidden[i], features}));
    features = mlp.hidden[i];
  }
  layers.push_back(maker.layer("output", {outputs, features}));
  return Network(maker.take(), [layers, activation = mlp.activation](const at::Tensor& inputs) {
    at::Tensor x = inputs.flatten(1);
    for (size_t i = 0; i + 1 < layers.size(); ++i) x = activation(at::linear(x, layers[i].weight, layers[i].bias));
    return at::linear(x, layers.back().weight, layers.back().bias);
  });
}

}  // namespace

Network make_architecture(const std::string& spec, const std::vector<int64_t>& input_shape, int64_t outputs,
                          at::ScalarType dtype, uint64_t seed) {
  const Parsed parsed = parse(spec);
  if (outputs < 1)
    throw Error(ErrorKind::usage,
                fmt::format("network '{}' needs at least one output, but {} were asked for", spec, outputs));
  if (parsed.cnn) return make_fixup_cnn(*parsed.cnn, input_shape, outputs, dtype, seed);
  if (parsed.kind == "cnn") return make_3c3d(input_shape, outputs, dtype, seed);
  if (parsed.kind == "resnet") return make_fixup_resnet(parsed.resnet, input_shape, outputs, dtype, seed);
  const int64_t features = std::accumulate(input_shape.begin(), input_shape.end(), int64_t{1}, std::multiplies<>());
  return make_mlp(parsed.mlp, features, outputs, ParameterMaker(seed, dtype));
}

void check_architecture(const std::string& spec) { parse(spec); }

}  // namespace ockham
