#include "experiments/image_table.h"

#include <algorithm>

#include "experiments/image_cell.h"
#include "experiments/image_data.h"

namespace ockham::paper {
namespace {

std::string spec_of(const std::string& word, const ImageScale& scale) {
  if (word == "mlp") return scale.quick ? "mlp:64-32" : "mlp:1024-512-256-128";
  if (word == "cnn") return scale.quick ? "cnn:width=4,depth=3" : "cnn:3c3d";
  return resnet_for(scale, scale.quick ? 8 : 20);
}

}  // namespace

const std::vector<SetAndNetwork>& table_networks() {
  static const std::vector<SetAndNetwork> networks = {
      {"mnist", "mlp"},         {"mnist", "cnn"},    {"fashion-mnist", "mlp"},
      {"fashion-mnist", "cnn"}, {"cifar-10", "cnn"}, {"cifar-10", "resnet"},
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
        const SharedTraining shared{problem.set, problem.word, spec_of(problem.word, scale), method, false};
        cells.push_back(shared_cell(shared, seed, scale, settings));
      }
    }
  return cells;
}

}  // namespace ockham::paper
