// Small trained models, for tests of what is saved, predicted and exported.
#pragma once

#include <string>
#include <vector>

#include "ockham/predict/trained_model.h"

namespace ockham::testing {

struct TrainedCase {
  std::string spec = "mlp:4,act=tanh";
  Likelihood likelihood = Gaussian{};
  Structure structure = Structure::full;
  PriorKind prior = PriorKind::layerwise;
  at::ScalarType dtype = at::kFloat;
  bool root_derivatives = false;
  bool damping = false;
  std::string torchscript;  // bytes; `spec` is then a name
};

/// The table: numbers `width` and `height`, colours red, green and blue, and a target by the likelihood: `price` (and
/// `weight` with noise per output), `kind` with the classes a, b and c (a and b for one logit), or the count `visits`.
CsvTable trained_table(const Likelihood& likelihood, int64_t rows = 40, uint64_t seed = 3);

/// Learns the table's encoding, takes the network as it is made (or after `epochs` of full-batch training), and fits
/// the posterior there.
TrainedModel make_trained(const TrainedCase& wanted, int64_t epochs = 0);

/// The encoded table of the case.
Dataset trained_data(const TrainedModel& trained, const Likelihood& likelihood, int64_t rows = 40, uint64_t seed = 3);

/// The bytes of a TorchScript network 5-3-`outputs` with tanh, its parameters named inner.weight, ...
std::string torchscript_bytes(int64_t outputs);

}  // namespace ockham::testing
