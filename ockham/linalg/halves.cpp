#include "ockham/linalg/halves.h"

#include <ATen/Parallel.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <system_error>
#include <thread>

namespace ockham {
namespace {

constexpr std::chrono::milliseconds kPatience{2};  // of the second thread; longer than any phase that is worth it

/// What the two threads share. The second one may outlive the call: it touches the phases only after it has claimed a
/// half, and then the call waits for it.
struct SharedWork {
  explicit SharedWork(const std::vector<Phase>& given) : phases(given), claimed(given.size()) {}
  const std::vector<Phase>& phases;
  std::vector<std::atomic<bool>> claimed;  // second halves
  std::atomic<size_t> open{0};             // phases that may be worked on
  std::atomic<size_t> finished{0};         // the last phase whose second half the second thread has done, from 1

  bool claim(size_t phase) { return !claimed[phase].exchange(true); }
};

void do_second_halves(const std::shared_ptr<SharedWork>& work) {
  for (size_t i = 0; i < work->claimed.size(); ++i) {
    const auto give_up = std::chrono::steady_clock::now() + kPatience;
    while (work->open <= i) {
      if (std::chrono::steady_clock::now() > give_up) return;
      std::this_thread::yield();
    }
    if (!work->claim(i)) continue;
    work->phases[i](1);
    work->finished = i + 1;
  }
}

}  // namespace

void run_in_halves(const std::vector<Phase>& phases) {
  const auto work = std::make_shared<SharedWork>(phases);
  if (at::get_num_threads() > 1) {
    try {
      std::thread(do_second_halves, work).detach();
    } catch (const std::system_error&) {  // no more threads: this one does both halves
    }
  }
  for (size_t i = 0; i < phases.size(); ++i) {
    work->open = i + 1;
    phases[i](0);
    if (work->claim(i)) {
      phases[i](1);
    } else {
      while (work->finished <= i) std::this_thread::yield();
    }
  }
}

}  // namespace ockham
