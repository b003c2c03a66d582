// How rapidcheck draws a random case: every number on its own, so that each shrinks on its own.
#pragma once

#include <rapidcheck.h>

#include "tests/properties/random_case.h"

namespace ockham::properties {

/// inRange alone grows with rapidcheck's size; here the smallest cases are small enough.
inline rc::Gen<int> between(int least, int most) { return rc::gen::resize(100, rc::gen::inRange(least, most + 1)); }

/// Simplest first: failures shrink to it.
template <class Choice>
rc::Gen<Choice> choice(Choice last) {
  return rc::gen::map(between(0, static_cast<int>(last)), [](int index) { return static_cast<Choice>(index); });
}

/// -most to most, shrinking to 0.
inline rc::Gen<int> around_zero(int most) {
  return rc::gen::map(between(0, 2 * most), [](int index) { return index % 2 == 0 ? index / 2 : -(index + 1) / 2; });
}

inline rc::Gen<RandomLayer> random_layer() {
  using L = RandomLayer;
  return rc::gen::resize(
      100,
      rc::gen::build<L>(rc::gen::set(&L::kind, rc::gen::weightedOneOf<L::Kind>({{5, rc::gen::just(L::Kind::weighted)},
                                                                                {4, choice(L::Kind::norm)}})),
                        rc::gen::set(&L::width, between(1, 3)), rc::gen::set(&L::bias, rc::gen::arbitrary<bool>()),
                        rc::gen::set(&L::activation, choice(Activation::relu)), rc::gen::set(&L::kernel, between(1, 3)),
                        rc::gen::set(&L::stride, between(1, 2)), rc::gen::set(&L::padding, between(0, 1)),
                        rc::gen::set(&L::dilation, between(1, 2)), rc::gen::set(&L::groups, between(1, 2))));
}

inline rc::Gen<RandomCase> random_case() {
  using C = RandomCase;
  auto layers = rc::gen::mapcat(between(0, 3), [](int count) {
    return rc::gen::container<std::vector<RandomLayer>>(static_cast<size_t>(count), random_layer());
  });
  auto drawn = rc::gen::build<C>(
      rc::gen::set(&C::images, rc::gen::arbitrary<bool>()), rc::gen::set(&C::float32, rc::gen::arbitrary<bool>()),
      rc::gen::set(&C::examples, between(2, 7)), rc::gen::set(&C::features, between(1, 4)),
      rc::gen::set(&C::positions, between(1, 5)), rc::gen::set(&C::layers, std::move(layers)),
      rc::gen::set(&C::output_bias, rc::gen::arbitrary<bool>()),
      rc::gen::set(&C::likelihood, choice(RandomLikelihood::poisson)), rc::gen::set(&C::outputs, between(1, 3)),
      rc::gen::set(&C::prior, choice(PriorKind::groups)), rc::gen::set(&C::log_noise, around_zero(8)),
      rc::gen::set(&C::log_temperature, around_zero(5)), rc::gen::set(&C::likelihood_weight, around_zero(8)),
      rc::gen::set(&C::batch_size, between(1, 8)), rc::gen::set(&C::seed, between(0, 1000000)));
  return rc::gen::map(std::move(drawn), [](C random) {
    // Sixteen channels in float32 go through kernels of their own.
    if (random.images && random.features == 4) random.features = 16;
    // At a kink the two types may stand on different sides.
    for (RandomLayer& layer : random.layers)
      if (random.float32 && layer.activation == Activation::relu) layer.activation = Activation::gelu;
    return random;
  });
}

inline void showValue(const RandomCase& random, std::ostream& out) { out << random; }

}  // namespace ockham::properties
