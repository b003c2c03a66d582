#include "ockham/distributed/communicator.h"

namespace ockham {

int64_t Alone::add(const std::string& counter, int64_t value) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counters_[counter] += value;
}

}  // namespace ockham
