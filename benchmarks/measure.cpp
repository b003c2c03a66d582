#include "benchmarks/measure.h"

#include <ATen/ATen.h>
#include <sys/wait.h>
#include <torch/optim/adam.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "benchmarks/timing.h"
#include "ockham/base/error.h"
#include "ockham/base/memory.h"
#include "ockham/base/random.h"
#include "ockham/evidence/optimise_hyperparameters.h"
#include "ockham/network/architectures.h"

namespace ockham::bench {
namespace {

constexpr int64_t kFewestRepetitions = 5;
constexpr int64_t kFewestHyperSteps = 100;

Dataset random_data(const Setting& setting) {
  std::vector<int64_t> shape = {setting.samples};
  shape.insert(shape.end(), setting.input_shape.begin(), setting.input_shape.end());
  const at::Generator generator = random_stream({setting.seed, 1});
  const at::Tensor inputs = at::randn(shape, generator, at::TensorOptions(setting.dtype));
  const at::Tensor targets =
      setting.gaussian ? at::randn({setting.samples, setting.outputs}, generator, at::TensorOptions(setting.dtype))
                       : at::randint(0, setting.outputs, {setting.samples}, generator, at::kLong);
  return Dataset(inputs, targets);
}

// Adam on the MAP objective, sum over the data divided by N; the prior's gradient enters as weight decay δ/N.
class Trainer {
 public:
  Trainer(const Network& network, const Setting& setting)
      : network_(network),
        setting_(setting),
        optimiser_(network.parameters(),
                   torch::optim::AdamOptions(1e-3).weight_decay(1.0 / static_cast<double>(setting.samples))) {}

  void epoch(const Dataset& data) {
    for (int64_t first = 0; first < data.size(); first += setting_.batch) {
      optimiser_.zero_grad();
      loss_of(data.slice(first, setting_.batch)).backward();
      optimiser_.step();
    }
  }

  double loss(const Dataset& data) const {
    const at::NoGradGuard no_gradients;
    double sum = 0;
    for (int64_t first = 0; first < data.size(); first += setting_.batch) {
      const Batch batch = data.slice(first, setting_.batch);
      sum += loss_of(batch).item<double>() * static_cast<double>(batch.inputs.size(0));
    }
    return sum / static_cast<double>(data.size());
  }

 private:
  at::Tensor loss_of(const Batch& batch) const {
    const at::Tensor outputs = network_.forward(batch.inputs);
    return setting_.gaussian ? at::mse_loss(outputs, batch.targets) * 0.5
                             : at::cross_entropy_loss(outputs, batch.targets);
  }

  Network network_;
  const Setting& setting_;
  torch::optim::Adam optimiser_;
};

double gemm_gflops(at::ScalarType dtype) {
  constexpr int64_t n = 1024;
  const at::Tensor a = at::randn({n, n}, dtype), b = at::randn({n, n}, dtype);
  at::Tensor c = at::mm(a, b);
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) times.push_back(seconds_of([&] { at::mm_out(c, a, b); }));
  return 2.0 * n * n * n / *std::min_element(times.begin(), times.end()) * 1e-9;
}

Network make(const Setting& setting) {
  return make_architecture(setting.network, setting.input_shape, setting.outputs, setting.dtype, setting.seed);
}

Likelihood likelihood_of(const Setting& setting) {
  if (setting.gaussian) return Gaussian{};
  return Categorical{};
}

// Runs the work in a child process that has not touched libtorch yet, and gives what it returns.
int64_t in_child(const std::function<int64_t()>& work) {
  int ends[2];
  if (pipe(ends) != 0) throw Error(ErrorKind::failure, "A pipe for the memory measurement could not be made.");
  const pid_t child = fork();
  if (child == 0) {
    int64_t result = -1;
    try {
      result = work();
    } catch (const std::exception&) {
    }
    const bool written = write(ends[1], &result, sizeof(result)) == sizeof(result);
    _exit(written ? 0 : 1);
  }
  int64_t result = -1;
  close(ends[1]);
  if (read(ends[0], &result, sizeof(result)) != sizeof(result)) result = -1;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return result;
}

int64_t peak_above_start(const std::function<void()>& work) {
  const int64_t before = resident_memory_bytes();
  reset_peak_memory();
  work();
  return peak_memory_bytes() - before;
}

}  // namespace

Timing measure_time(const Setting& setting) {
  Timing timing;
  timing.gemm_gflops = gemm_gflops(setting.dtype);
  const Network network = make(setting);
  const Dataset data = random_data(setting);
  const Likelihood likelihood = likelihood_of(setting);
  timing.parameters = network.layout().total();
  const Prior prior = setting.layerwise ? Prior::layerwise(network.layout()) : Prior::scalar(network.layout());
  Hyperparameters hyperparameters = default_likelihood_hyperparameters(likelihood, setting.outputs);
  hyperparameters.log_prior_precision = at::zeros({prior.size()}, at::kDouble);
  LaplaceOptions options;
  options.curvature = setting.curvature;
  options.curvature.batch_size = setting.batch;
  options.curvature.seed = setting.seed;

  timing.flop = bound_flop(network, likelihood, data, options.curvature);
  Trainer trainer(network, setting);
  for (int64_t i = 0; i < std::max<int64_t>(1, setting.epochs_before); ++i) trainer.epoch(data);
  if (setting.pass_only)
    estimate_curvature(network, likelihood, data, hyperparameters, options.curvature);
  else
    fit_laplace({network, likelihood, prior, hyperparameters}, data, options);
  std::vector<double> training, curvature, decompose, steps, ratios, whole;
  for (int64_t i = 0; i < std::max<int64_t>(kFewestRepetitions, setting.repetitions); ++i) {
    training.push_back(seconds_of([&] { trainer.epoch(data); }));
    if (setting.pass_only) {
      curvature.push_back(
          seconds_of([&] { estimate_curvature(network, likelihood, data, hyperparameters, options.curvature); }));
      ratios.push_back(curvature.back() / training.back());
      continue;
    }
    const LaplaceFit fit = fit_laplace({network, likelihood, prior, hyperparameters}, data, options);
    curvature.push_back(fit.seconds_curvature);
    HyperOptions hyper;
    hyper.steps = 1;
    HyperState state;
    // The first step does what is decomposed on demand; it counts as decomposition beyond what a later step takes.
    const double first = seconds_of([&] { optimise_hyperparameters(fit, hyperparameters, hyper, state); });
    hyper.steps = std::max(kFewestHyperSteps, setting.hyper_steps);
    const double step = seconds_of([&] { optimise_hyperparameters(fit, hyperparameters, hyper, state); }) /
                        static_cast<double>(hyper.steps);
    steps.push_back(step);
    decompose.push_back(fit.seconds_decompose + std::max(0.0, first - step));
    ratios.push_back(curvature.back() / training.back());
    whole.push_back((fit.seconds_curvature + fit.seconds_decompose + first) / training.back());
  }
  timing.seconds_train_epoch = median(training);
  timing.seconds_curvature = median(curvature);
  timing.ratio = median(ratios);
  timing.loss = trainer.loss(data);
  timing.gemm_gflops = std::max(timing.gemm_gflops, gemm_gflops(setting.dtype));
  timing.gflops_curvature = timing.flop.curvature / timing.seconds_curvature * 1e-9;
  if (setting.pass_only) return timing;
  timing.seconds_decompose = median(decompose);
  timing.seconds_per_hyper_step = median(steps);
  timing.ratio_fit_and_step = median(whole);
  return timing;
}

int64_t measure_training_memory(const Setting& setting) {
  return in_child([&] {
    at::mm(at::ones({64, 64}), at::ones({64, 64}));  // libraries and threads are up before the count begins
    return peak_above_start([&] {
      const Network network = make(setting);
      const Dataset data = random_data(setting);
      Trainer(network, setting).epoch(data);
    });
  });
}

int64_t measure_curvature_memory(const Setting& setting) {
  return in_child([&] {
    at::mm(at::ones({64, 64}), at::ones({64, 64}));
    return peak_above_start([&] {
      const Network network = make(setting);
      const Dataset data = random_data(setting);
      const Likelihood likelihood = likelihood_of(setting);
      CurvatureOptions options = setting.curvature;
      options.batch_size = setting.batch;
      estimate_curvature(network, likelihood, data, default_likelihood_hyperparameters(likelihood, setting.outputs),
                         options);
    });
  });
}

}  // namespace ockham::bench
