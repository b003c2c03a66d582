// How long ranks on one machine take to sum and to hand round: the figures of the model in docs/scaling.md.
//   ockham-ranks-exchange [RANKS]
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "ockham/base/platform.h"
#include "ockham/distributed/gloo.h"

namespace {

template <class Work>
double median_seconds(int repetitions, const Work& work) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void measure(ockham::Communicator& ranks) {
  if (ranks.rank() == 0)
    fmt::print("{} ranks\n{:>12} {:>14} {:>14}\n", ranks.size(), "bytes", "sum, ms", "broadcast, ms");
  for (const int64_t numbers : {1, 1000, 100000, 1000000, 10000000}) {
    at::Tensor values = at::ones({numbers}, at::kDouble);
    const int repetitions = numbers > 100000 ? 9 : 101;
    ranks.all_reduce_sum(values);
    const double sum = median_seconds(repetitions, [&] { ranks.all_reduce_sum(values.zero_()); });
    const double round = median_seconds(repetitions, [&] { ranks.broadcast(values, 0); });
    if (ranks.rank() == 0) fmt::print("{:>12} {:>14.3f} {:>14.3f}\n", 8 * numbers, 1e3 * sum, 1e3 * round);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t ranks = argc > 1 ? std::max(1, std::atoi(argv[1])) : 2;
  char directory[] = "/tmp/ockham-exchange-XXXXXX";
  if (::mkdtemp(directory) == nullptr) return 1;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    if (::fork() != 0) continue;
    ockham::set_threads(1);
    const auto communicator = ockham::connect_gloo({rank, ranks, std::string(directory) + "/store", "", 0}, 60);
    measure(*communicator);
    std::fflush(stdout);
    ::_exit(0);
  }
  while (::wait(nullptr) > 0) continue;
  std::filesystem::remove_all(directory);
  return 0;
}
