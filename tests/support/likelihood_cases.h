// One case for every likelihood, with targets drawn for it.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "ockham/base/random.h"
#include "ockham/probability/likelihood.h"

namespace ockham::testing {

struct LikelihoodCase {
  Likelihood likelihood;
  int64_t outputs;
  at::Tensor targets;
};

inline std::vector<LikelihoodCase> likelihood_cases(int64_t examples) {
  const auto uniform = [&](int64_t columns, uint64_t key) {
    return at::rand({examples, columns}, random_stream({key}), at::kDouble);
  };
  return {{Gaussian{}, 1, uniform(1, 1)},
          {Gaussian{true}, 2, uniform(2, 2)},
          {Categorical{}, 3, (uniform(1, 3) * 3).floor().to(at::kLong).squeeze(1)},
          {Bernoulli{}, 1, uniform(1, 4).round()},
          {Poisson{}, 2, (uniform(2, 5) * 5).floor()}};
}

}  // namespace ockham::testing
