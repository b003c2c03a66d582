#include "experiments/image_table.h"

#include <algorithm>

#include "experiments/image_cell.h"
#include "experiments/image_data.h"

namespace ockham::paper {

const std::vector<SetAndNetwork>& table_networks() {
  static const std::vector<SetAndNetwork> networks = {
      {"mnist", "mlp", "mlp:1024-512-256-128", "mlp:64-32"},
      {"mnist", "cnn", "cnn:3c3d", "cnn:width=4,depth=3"},
      {"fashion-mnist", "mlp", "mlp:1024-512-256-128", "mlp:64-32"},
      {"fashion-mnist", "cnn", "cnn:3c3d", "cnn:width=4,depth=3"},
      {"cifar-10", "cnn", "cnn:3c3d", "cnn:width=4,depth=3"},
      {"cifar-10", "resnet", "resnet:depth=20,width=16", "resnet:depth=8,width=8"},
  };
  return networks;
}

const std::vector<std::string>& table_sets() {
  static const std::vector<std::string> sets = {"mnist", "fashion-mnist", "cifar-10"};
  return sets;
}

std::string start_of(const SetAndNetwork& problem, ImageMethod method) {
  return start_of(SharedTraining{problem.set, problem.word, "", method, false});
}

std::vector<Cell> table_cells(const Settings& settings, const ImageScale& scale,
                              const std::vector<ImageMethod>& methods,
                              const std::function<bool(const SetAndNetwork&, ImageMethod)>& concerns) {
  const std::vector<std::string> there = present_sets(settings.data, table_sets());
  std::vector<Cell> cells;
  for (int64_t seed = 0; seed < scale.seeds; ++seed)
    for (const SetAndNetwork& problem : table_networks()) {
      if (std::find(there.begin(), there.end(), problem.set) == there.end()) continue;
      for (const ImageMethod method : methods) {
        if (!concerns(problem, method)) continue;
        const SharedTraining shared{problem.set, problem.word, scale.quick ? problem.quick : problem.network, method,
                                    false};
        cells.push_back(shared_cell(shared, seed, scale, settings));
      }
    }
  return cells;
}

}  // namespace ockham::paper
