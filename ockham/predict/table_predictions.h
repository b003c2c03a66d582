// What a trained model says about new examples, in the units of its table.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

#include "ockham/predict/linearised.h"
#include "ockham/predict/trained_model.h"

namespace ockham {

/// `map` is the network alone, without the uncertainty of its weights. `linearised` means `probit` for classes.
/// `probit` (of the logits without their common mode) and `sampled` are for classes only: the linearised predictive of
/// a regression has a closed form.
enum class PredictMethod { automatic, map, linearised, probit, sampled };

struct PredictOptions {
  PredictMethod method = PredictMethod::automatic;      // linearised for a regression, probit for classes
  PosteriorScope scope = PosteriorScope::whole;         // of all methods but `map`
  int64_t samples = 1000;                               // S of `sampled`
  uint64_t seed = 0;                                    // of `sampled`
  int64_t first = 0;                                    // place of the first example among all: see `predict_part`
  int64_t memory_budget = 0;                            // bytes; 0: default_memory_budget()
  std::function<void(int64_t examples_done)> progress;  // may throw to interrupt
};

/// All [N, C] float64 with C targets, in their own units y = m + s z. Gaussian, with z ~ N(f, v + σ²):
///   mean = m + s f    sd_epistemic = s √v    sd_noise = s σ    sd² = sd_epistemic² + sd_noise²
///   lower95, upper95 = mean ∓ 1.96 sd.
/// Poisson, with log rate ~ N(f, v): mean = exp(f + v/2), the variances are those of the rate and of a count given the
/// mean rate; the interval starts at 0 at the lowest.
struct RegressionTable {
  at::Tensor mean, sd, sd_epistemic, sd_noise, lower95, upper95;
};

struct TablePredictions {
  PredictMethod method = PredictMethod::map;  // the one used, never automatic; classes: map, probit or sampled
  RegressionTable regression;                 // undefined for a classification
  at::Tensor probabilities;                   // [N, C] float64, C classes; undefined for a regression
};

/// Examples that come in parts of a multiple of this number, with their place in the options, give the same bits as all
/// at once.
inline constexpr int64_t predict_part = 1024;

/// `inputs` as `encode_inputs` gives them, [N, D] or [N, input_shape...]. In chunks that do not depend on the machine:
/// samples of an example depend on the seed and its place alone. Throws Error(usage) for a method that the task does
/// not have and Error(data) for inputs that do not fit.
TablePredictions predict_table(const TrainedModel& trained, const at::Tensor& inputs,
                               const PredictOptions& options = {});

/// The network's outputs over the temperature, [N, C] float64: what `map` reads. `progress` comes after each batch.
at::Tensor predict_outputs(const TrainedModel& trained, const at::Tensor& inputs,
                           const std::function<void(int64_t examples_done)>& progress = {});
/// The same of a model that has no posterior yet, for inputs in the shape that its network takes.
at::Tensor predict_outputs(const Model& model, const at::Tensor& inputs,
                           const std::function<void(int64_t examples_done)>& progress = {});
/// Throws Error(numerical) with the number of the first of the rows [N, ...] that is not finite: a row that leaves the
/// range of the network's numbers must not come out as "nan". `first` is the place of row 0 among all examples.
void expect_finite_predictions(const at::Tensor& rows, int64_t first = 0);
/// What `map` makes of the outputs of a regression.
RegressionTable map_regression(const Model& model, const TableEncoding& encoding, const at::Tensor& outputs);

/// The linearised predictive (predict/linearised.h) chunk by chunk, in order; covariances of all examples at once may
/// not fit into memory.
void for_each_prediction(const TrainedModel& trained, const at::Tensor& inputs, const PredictOptions& options,
                         const std::function<void(const FunctionPredictive& chunk, int64_t first)>& use);

}  // namespace ockham
