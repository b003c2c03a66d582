#include "experiments/experiment.h"

namespace ockham::paper {

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = {
      toy_regression(), toy_classification(), uci_regression(), uci_classification(), images(),
      damping(),        augmentation(),       runtime(),        architectures(),      depth(),
      robustness(),     minibatch(),
  };
  return all;
}

}  // namespace ockham::paper
