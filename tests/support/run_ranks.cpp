#include "tests/support/run_ranks.h"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "ockham/base/platform.h"
#include "ockham/distributed/gloo.h"
#include "tests/support/temporary_directory.h"

namespace ockham::testing {

void run_ranks(int64_t ranks, const std::function<void(Communicator&)>& work, double timeout) {
  const TemporaryDirectory directory;
  std::exception_ptr failure;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      const SingleThread single;
      try {
        const auto communicator = connect_gloo({rank, ranks, directory.path("store"), "", 0}, timeout);
        work(*communicator);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ockham::testing
