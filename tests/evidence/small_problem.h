// A small network with targets for each likelihood, for tests that fit and refit it.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "ockham/base/random.h"
#include "ockham/evidence/evidence.h"

namespace ockham::testing {

struct SmallProblem {
  std::string name;
  Likelihood likelihood;
  Network network;
  Dataset data;
  Hyperparameters likelihood_hyperparameters;

  Hyperparameters at(const Prior& prior) const {
    Hyperparameters result = likelihood_hyperparameters.clone();
    result.log_prior_precision = 0.5 * at::randn({prior.size()}, random_stream({21}), at::kDouble);
    return result;
  }
};

inline at::Tensor seeded(std::vector<int64_t> shape, uint64_t seed) {
  return at::randn(shape, random_stream({seed}), at::kDouble);
}

/// tanh network 3-4-C.
inline Network small_network(int64_t outputs) {
  std::vector<std::pair<std::string, at::Tensor>> parameters = {{"hidden.weight", seeded({4, 3}, 1)},
                                                                {"hidden.bias", seeded({4}, 2)},
                                                                {"output.weight", seeded({outputs, 4}, 3)},
                                                                {"output.bias", seeded({outputs}, 4)}};
  for (auto& [name, tensor] : parameters) tensor.set_requires_grad(true);
  return Network(parameters, [parameters](const at::Tensor& inputs) {
    const at::Tensor hidden = at::tanh(at::linear(inputs, parameters[0].second, parameters[1].second));
    return at::linear(hidden, parameters[2].second, parameters[3].second);
  });
}

/// f = X wᵀ with `weights` columns, no bias.
inline Network linear_network(const at::Tensor& weight) {
  const at::Tensor parameter = weight.clone().set_requires_grad(true);
  return Network({{"weight", parameter}},
                 [parameter](const at::Tensor& inputs) { return at::linear(inputs, parameter); });
}

inline std::vector<SmallProblem> small_problems() {
  const int64_t n = 9;
  const at::Tensor inputs = seeded({n, 3}, 5), none = at::zeros({0}, at::kDouble);
  const auto values = [](std::vector<double> list) { return at::tensor(list, at::kDouble); };
  return {
      {"gaussian", Gaussian{}, small_network(2), {inputs, seeded({n, 2}, 6)}, {{}, values({-0.4}), none}},
      {"gaussian per output",
       Gaussian{true},
       small_network(2),
       {inputs, seeded({n, 2}, 6)},
       {{}, values({-0.4, 0.3}), none}},
      {"categorical",
       Categorical{},
       small_network(3),
       {inputs, at::arange(n).remainder(3)},
       {{}, none, values({0.35})}},
      {"bernoulli", Bernoulli{}, small_network(1), {inputs, at::arange(n).remainder(2)}, {{}, none, values({-0.25})}},
      {"poisson", Poisson{}, small_network(2), {inputs, at::arange(2 * n).remainder(4).view({n, 2})}, {{}, none, none}},
  };
}

}  // namespace ockham::testing
