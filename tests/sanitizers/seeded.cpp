// One bug of each kind, on purpose: the sanitizers must report it, with the suppressions in place. Built with
// OCKHAM_SANITIZE only.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "ockham/base/platform.h"
#include "ockham/linalg/halves.h"

namespace {

volatile int one = 1;  // what the compiler cannot look through

void read_beyond_the_heap() {
  std::vector<float> values(8);
  std::printf("%f\n", values.data()[7 + one]);
}

void read_beyond_the_stack() {
  volatile float values[8] = {};
  volatile float* volatile place = values;  // of an array itself the compiler knows the bounds
  std::printf("%f\n", place[7 + one]);
}

void read_what_was_freed() {
  auto* values = new float[8]();
  delete[] values;
  std::printf("%f\n", values[one]);
}

void* volatile kept = nullptr;

void leak_memory() {
  kept = std::malloc(1234);
  kept = nullptr;
}

void overflow_an_integer() { std::printf("%d\n", std::numeric_limits<int>::max() + one); }

void convert_beyond_an_integer() { std::printf("%d\n", static_cast<int>(1e30 * one)); }

void shift_too_far() { std::printf("%d\n", 1 << (31 + one)); }

/// Lets two threads go on together, without an order between them that would hide a race.
void meet(std::atomic<int>& arrived) {
  arrived.fetch_add(1, std::memory_order_relaxed);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (arrived.load(std::memory_order_relaxed) < 2 && std::chrono::steady_clock::now() < give_up)
    std::this_thread::yield();
}

/// Both halves of a phase write the same place: what linalg/halves.h forbids.
void race_in_halves() {
  ockham::set_threads(2);
  std::atomic<int> arrived{0};
  std::vector<int64_t> shared(1);
  ockham::run_in_halves({[&](int half) {
    meet(arrived);
    shared[0] += half;
  }});
}

/// Workers that report their progress without the lock, as those of select/train_candidates would.
void race_of_workers() {
  std::atomic<int> arrived{0};
  std::vector<int64_t> epochs(1);
  const auto work = [&] {
    const ockham::SingleThread alone;
    meet(arrived);
    ++epochs[0];
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
}

const std::map<std::string, std::function<void()>> bugs = {
    {"heap", read_beyond_the_heap},    {"stack", read_beyond_the_stack},
    {"freed", read_what_was_freed},    {"leak", leak_memory},
    {"overflow", overflow_an_integer}, {"conversion", convert_beyond_an_integer},
    {"shift", shift_too_far},          {"halves", race_in_halves},
    {"workers", race_of_workers},      {"none", [] {}},
};

}  // namespace

int main(int argc, char** argv) {
  const auto bug = bugs.find(argc == 2 ? argv[1] : "");
  if (bug == bugs.end()) {
    std::fprintf(stderr, "one argument is expected, the name of a bug:");
    for (const auto& [name, make] : bugs) std::fprintf(stderr, " %s", name.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  bug->second();
  return 0;
}
