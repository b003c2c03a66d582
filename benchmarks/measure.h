// What ockham-bench measures: a training epoch, a curvature pass, a decomposition and hyperparameter steps of one
// network on random data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/flop_bound.h"
#include "ockham/curvature/estimate_curvature.h"

namespace ockham::bench {

struct Setting {
  std::string network = "mlp:1024-512-256-128";
  std::vector<int64_t> input_shape = {784};
  bool gaussian = false;   // else categorical
  int64_t outputs = 10;    // classes, or real outputs
  int64_t samples = 6400;  // N
  int64_t batch = 128;
  bool layerwise = true;  // prior; else scalar
  int64_t repetitions = 5;
  int64_t hyper_steps = 100;  // at least so many are timed: the spectrum goes into bins after some of them
  int64_t epochs_before = 1;  // of training, before anything is timed
  bool pass_only = false;     // training epochs and curvature passes alone
  uint64_t seed = 0;
  at::ScalarType dtype = at::kFloat;
  CurvatureOptions curvature;
};

struct Timing {
  int64_t parameters = 0;
  double seconds_train_epoch = 0, seconds_curvature = 0, seconds_decompose = 0, seconds_per_hyper_step = 0;
  double ratio = 0;               // median over repetitions of curvature / training
  double ratio_fit_and_step = 0;  // (curvature + decomposition + one step) / training
  double gemm_gflops = 0;         // the network's type, 1024³, the best before and after all else
  FlopBound flop;                 // exact; a tolerance needs less
  double loss = 0;                // an example at the end: how sure the network is decides what a tolerance saves
  double gflops_curvature = 0;    // reached: what is counted / seconds_curvature
};

/// Alternates training epochs and curvature passes; medians. A hyperparameter step is the mean over `hyper_steps` of
/// them after the first; with `pass_only` there are none, and no decomposition.
Timing measure_time(const Setting& setting);

/// Peak resident bytes above the level before the data: of a training epoch, or of a curvature pass. Each in a process
/// of its own, since what one leaves in the allocator would count for the other.
int64_t measure_training_memory(const Setting& setting);
int64_t measure_curvature_memory(const Setting& setting);

}  // namespace ockham::bench
