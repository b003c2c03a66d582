// Trains candidate networks by the online algorithm: each from several starts, several at once.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ockham/train/train_online.h"

namespace ockham {

struct Candidate {
  std::string network;                          // its name: "mlp:50-50"
  std::function<Model(uint64_t restart)> make;  // untrained, with weights drawn for that restart; from any thread
  double cost = 1;                              // relative, of one epoch; decides the order, never a result
  int64_t parameters = 0;                       // weights of its network
};

/// With several workers the dearest first takes the shortest time as a whole: no worker is left alone with it at the
/// end. The cheapest first has its first results soonest.
enum class TrainingOrder { dearest_first, cheapest_first };

/// One training of a candidate, as it ended.
struct CandidateTraining {
  size_t candidate = 0, restart = 0;
  OnlineResult result;
  int64_t eliminated_at = 0;  // the epoch after which it was given up as hopeless; 0: it was not
};

/// Where trainings are several, in all. A number of threads can change the last digits; a number of workers cannot when
/// each training has one.
enum class TrainingThreads { all_unless_at_once, one_each };

/// Several processes (ranks) work on the trainings in one of two ways. All call `train_candidates` with the same
/// candidates, data and options.
///   data        `online.laplace.communicator`: all ranks train each network together, one network after the other
///   candidates  `queue`: each training is made by one rank alone, as one process would make it. Their states go from
///               rank to rank by `CandidatesWatcher::resume` and `hand_over`, through files that all of them see; when
///               a rank is lost, another goes on with its training. What is returned holds the states as they were
///               found there: called again without the queue, one process completes them in no time.
struct CandidatesOptions {
  OnlineOptions online;  // its keys `candidate` and `restart` are set for each training
  Communicator* queue = nullptr;
  double lost_after = 20;  // seconds without a heartbeat after which a rank's training is taken over
  size_t restarts = 1;
  /// Trainings at once. With more than one, each runs on one thread, which for small networks is the faster way.
  size_t workers = 1;
  TrainingThreads threads = TrainingThreads::all_unless_at_once;
  TrainingOrder order = TrainingOrder::dearest_first;
  /// Epochs at which all trainings wait for each other, and which of them go on (by their traces up to that epoch).
  /// Empty: nothing is eliminated.
  std::vector<int64_t> rungs;
  std::function<std::vector<bool>(int64_t rung, const std::vector<CandidateTraining>&)> survivors;
};

/// What a caller sees and decides. Calls come from the workers, one at a time.
struct CandidatesWatcher {
  /// The state from which a training goes on; null: it starts.
  std::function<std::shared_ptr<const OnlineState>(size_t candidate, size_t restart)> resume;
  /// Before a training begins or goes on; false leaves it as it is.
  std::function<bool(size_t candidate, size_t restart)> begin;
  /// After every batch of an epoch that takes long (OnlineOptions::after_batch); false ends that training.
  std::function<bool(size_t candidate, size_t restart, const BatchProgress&)> after_batch;
  /// After every epoch; false ends that training as it is.
  std::function<bool(size_t candidate, size_t restart, const OnlineProgress&)> after_epoch;
  /// When a training has ended: by itself, by the watcher or by elimination.
  std::function<void(const CandidateTraining&)> ended;
  /// With a queue: a training is where all wait for each other, and its state must be there for the other ranks.
  std::function<void(const CandidateTraining&)> hand_over;
  /// With a queue: asked while there is nothing to do but to wait for the others; false ends it.
  std::function<bool()> go_on;
  /// With a communicator: another rank is lost, and this is the state after the last whole epoch.
  std::function<void(size_t candidate, size_t restart, const OnlineState&)> rescue;
};

/// The trainings, by candidate and restart. Numbers do not depend on the order of execution. A training that breaks
/// down numerically is a result with its `failure`; other errors stop everything and are thrown.
std::vector<CandidateTraining> train_candidates(const std::vector<Candidate>& candidates, const Dataset& data,
                                                const CandidatesOptions& options,
                                                const CandidatesWatcher& watcher = {});

}  // namespace ockham
