// What several processes that work on one problem say to each other. A program with a transport of its own implements
// these few functions; ockham's is in gloo.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "ockham/base/part_of.h"

namespace ockham {

/// Every rank calls the same collective functions in the same order. All of them throw Error(peer_lost) with one
/// sentence when another rank is gone or does not answer in time; the communicator is of no use after that.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int64_t rank() const = 0;  // from 0
  virtual int64_t size() const = 0;

  /// Collective. Replaces a contiguous float32, float64 or int64 tensor, of the same size on every rank, by its sum
  /// over the ranks: the same bits everywhere, and the same again in another run with as many ranks.
  virtual void all_reduce_sum(at::Tensor& tensor) = 0;
  /// Collective. Replaces a contiguous tensor by that of the rank `root`.
  virtual void broadcast(at::Tensor& tensor, int64_t root) = 0;
  /// Not collective, from any thread: adds to a named counter that all ranks share (0 at first) and returns its new
  /// value, atomically.
  virtual int64_t add(const std::string& counter, int64_t value) = 0;

  /// This rank's part of n things.
  Part part() const { return {rank(), size()}; }
};

/// One process: sums and broadcasts leave everything as it is.
class Alone : public Communicator {
 public:
  int64_t rank() const override { return 0; }
  int64_t size() const override { return 1; }
  void all_reduce_sum(at::Tensor&) override {}
  void broadcast(at::Tensor&, int64_t) override {}
  int64_t add(const std::string& counter, int64_t value) override;

 private:
  std::mutex mutex_;
  std::map<std::string, int64_t> counters_;
};

}  // namespace ockham
