// trained_pass RUN DIR [TOLERANCE]: how long a Kronecker GGN pass over its training images takes a network that `ockham
// fit` has trained, exactly and with --ggn-tolerance, in training epochs. The columns that a tolerance needs depend on
// how sure the network is, so random data do not tell. Medians of three alternating repetitions.
#include <ATen/ATen.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "benchmarks/timing.h"
#include "ockham/base/environment.h"
#include "ockham/base/error.h"
#include "ockham/base/memory.h"
#include "ockham/base/platform.h"
#include "ockham/base/random.h"
#include "ockham/curvature/estimate_curvature.h"
#include "ockham/data/image_directory.h"
#include "ockham/predict/trained_model.h"
#include "ockham/train/map_epoch.h"

namespace {

using namespace ockham;
using bench::median;
using bench::seconds_of;

constexpr uint64_t kTrainingDraw = 0x7472616964726177;  // as app/fit_images.cpp draws with --train-size
constexpr int64_t kBatch = 128;

/// The training images of the run.
Dataset training_images(const std::string& run, const std::string& directory) {
  std::ifstream file(run + "/run.json");
  const nlohmann::json json = nlohmann::json::parse(file);
  const int64_t count = json.at("examples");
  const uint64_t seed = std::stoull(json.at("settings").at("seed").get<std::string>());
  const ImageSet all = read_image_directory(directory).training;
  if (count == all.size()) return Dataset(all.images, all.labels);
  const at::Tensor order = at::randperm(all.size(), random_stream({seed, kTrainingDraw}), at::kLong);
  const ImageSet some = take_images(all, std::get<0>(order.narrow(0, 0, count).sort()));
  return Dataset(some.images, some.labels);
}

void measure(const std::string& run, const std::string& directory, double tolerance) {
  const TrainedModel trained = load_trained_model(run + "/model.safetensors");
  const Dataset data = training_images(run, directory);
  const at::Tensor theta = trained.model.network.flat_parameters();
  CurvatureOptions options;
  options.structure = Structure::kronecker;
  options.batch_size = kBatch;
  MapOptions map;
  map.batch_size = kBatch;
  std::vector<double> epochs, exact, folded;
  for (int repetition = 0; repetition < 3; ++repetition) {
    Optimiser optimiser(trained.model.network.parameters(), {});
    optimiser.set_learning_rate(1e-6);  // the network stays as it is
    epochs.push_back(seconds_of([&] { map_epoch(trained.model, data, map, optimiser, random_stream({1})); }));
    trained.model.network.set_flat_parameters(theta);
    const auto pass = [&](double allowed) {
      options.ggn_tolerance = allowed;
      return seconds_of([&] {
        estimate_curvature(trained.model.network, trained.model.likelihood, data, trained.model.hyperparameters,
                           options);
      });
    };
    exact.push_back(pass(0) / epochs.back());
    folded.push_back(pass(tolerance) / epochs.back());
  }
  std::printf("%s: %ld images, epoch %.2f s, exact %.2f epochs, tolerance %g %.2f epochs\n", run.c_str(),
              static_cast<long>(data.size()), median(epochs), median(exact), tolerance, median(folded));
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_tuned_environment(argv);
  set_threads(available_cpus());
  keep_freed_memory();
  if (argc < 3 || argc > 4) {
    std::fprintf(stderr, "usage: trained_pass RUN DIR [TOLERANCE]; DIR has the images that RUN was trained on\n");
    return 2;
  }
  try {
    measure(argv[1], argv[2], argc > 3 ? std::atof(argv[3]) : 1e-3);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trained_pass: %s\n", error.what());
    return 1;
  }
  return 0;
}
