// Items of work that ranks take one after the other, on the communicator's counters. A rank that is lost loses its
// item to another one. Nothing here is collective: ranks come and go as they like.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ockham/distributed/communicator.h"

namespace ockham {

/// While it lives, a thread counts up this rank's heartbeat, so that others know that it is there. A process that was
/// killed or stopped does not beat.
class Heartbeat {
 public:
  explicit Heartbeat(Communicator& communicator);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  /// The counters cannot be reached any more: the rank that has them is gone.
  bool lost() const { return lost_; }

  static std::string counter(int64_t rank);

 private:
  Communicator& communicator_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::atomic<bool> lost_{false};
  std::thread thread_;
};

struct WorkQueueOptions {
  std::string name;            // of this queue among those on the same communicator
  size_t items = 0;            // 0 .. items - 1, handed out in this order
  double lost_after = 20;      // seconds without a heartbeat
  double poll_interval = 0.2;  // seconds between two looks at what others do
};

class WorkQueue {
 public:
  WorkQueue(Communicator& communicator, WorkQueueOptions options);

  /// The next item that nobody has taken; when there is none, waits until all are finished (nothing is returned then)
  /// or the rank that has one is lost. `go_on` is asked while it waits; false ends it with nothing.
  std::optional<size_t> take(const std::function<bool()>& go_on = {});
  /// The item's result is where all ranks find it.
  void finish(size_t item);
  /// All items are finished.
  bool all_finished();

 private:
  std::string counter(const char* what, size_t item) const;
  std::optional<size_t> take_over();

  Communicator& communicator_;
  WorkQueueOptions options_;
  struct Seen {
    int64_t beats = -1;
    double since = 0;
  };
  std::vector<Seen> seen_;      // by rank
  std::vector<bool> finished_;  // as far as it is known here
};

}  // namespace ockham
