// A random model in plain numbers: what rapidcheck draws, shrinks and prints.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "ockham/probability/prior.h"

namespace ockham::properties {

enum class Activation { none, tanh, sigmoid, softplus, gelu, relu };

/// Every list of layers makes a network: what does not fit its place is brought to what does.
struct RandomLayer {
  enum class Kind {
    weighted,    // linear, or a convolution of images
    transposed,  // x W, or a transposed convolution
    repeated,    // a weight that is used twice, with its bias
    normalised,  // v / ‖v‖ as weight: no recogniser explains it
    shift,       // one number added, as in Fixup
    scale,       // one number multiplied, as in Fixup
    norm,        // layer norm, or group norm of images
  };
  Kind kind = Kind::weighted;
  int width = 1;  // outputs, a multiple of the groups
  bool bias = false;
  Activation activation = Activation::none;
  int kernel = 1, stride = 1, padding = 0, dilation = 1, groups = 1;  // of images
};

enum class RandomLikelihood { gaussian, gaussian_per_output, categorical, bernoulli, poisson };

struct RandomCase {
  bool images = false;
  bool float32 = false;
  int examples = 2;
  int features = 1;   // or channels
  int positions = 1;  // of a table: inputs [N, S, D]; of images: the side
  std::vector<RandomLayer> layers;
  bool output_bias = false;
  RandomLikelihood likelihood = RandomLikelihood::gaussian;
  int outputs = 1;
  PriorKind prior = PriorKind::scalar;
  int log_noise = 0, log_temperature = 0, likelihood_weight = 0;  // tenths of a logarithm
  int batch_size = 1;
  int seed = 0;  // of weights, data, precisions and directions
};

std::ostream& operator<<(std::ostream& out, const RandomCase& random);

}  // namespace ockham::properties
