#include "ockham/distributed/work_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "ockham/base/error.h"

namespace ockham {
namespace {

constexpr auto kBeat = std::chrono::milliseconds(1000);

double now_in_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string Heartbeat::counter(int64_t rank) { return fmt::format("heartbeat/{}", rank); }

Heartbeat::Heartbeat(Communicator& communicator) : communicator_(communicator) {
  communicator_.add(counter(communicator_.rank()), 1);
  thread_ = std::thread([this] {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!wake_.wait_for(lock, kBeat, [this] { return over_; })) {
      try {
        communicator_.add(counter(communicator_.rank()), 1);
      } catch (const Error&) {
        lost_ = true;
        return;
      }
    }
  });
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

WorkQueue::WorkQueue(Communicator& communicator, WorkQueueOptions options)
    : communicator_(communicator),
      options_(std::move(options)),
      seen_(static_cast<size_t>(communicator.size())),
      finished_(options_.items, false) {}

std::string WorkQueue::counter(const char* what, size_t item) const {
  return fmt::format("{}/{}/{}", options_.name, what, item);
}

// `owner` sums to 1 + the rank that has the item: who takes it over adds the difference.
std::optional<size_t> WorkQueue::take(const std::function<bool()>& go_on) {
  if (go_on && !go_on()) return std::nullopt;
  const int64_t next = communicator_.add(options_.name + "/next", 1) - 1;
  if (next < static_cast<int64_t>(options_.items)) {
    communicator_.add(counter("owner", static_cast<size_t>(next)), communicator_.rank() + 1);
    return static_cast<size_t>(next);
  }
  while (!all_finished()) {
    if (const std::optional<size_t> lost = take_over()) return lost;
    if (go_on && !go_on()) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::duration<double>(options_.poll_interval));
  }
  return std::nullopt;
}

std::optional<size_t> WorkQueue::take_over() {
  const double now = now_in_seconds();
  for (int64_t rank = 0; rank < communicator_.size(); ++rank) {
    Seen& seen = seen_[static_cast<size_t>(rank)];
    const int64_t beats = communicator_.add(Heartbeat::counter(rank), 0);
    if (beats != seen.beats) seen = {beats, now};
  }
  for (size_t item = 0; item < options_.items; ++item) {
    if (finished_[item]) continue;
    const int64_t owner = communicator_.add(counter("owner", item), 0) - 1;
    // Without an owner: a rank was lost between taking it and saying so, and any that is lost may have been it.
    const bool lost = owner >= 0 ? now - seen_[static_cast<size_t>(owner)].since > options_.lost_after
                                 : std::any_of(seen_.begin(), seen_.end(),
                                               [&](const Seen& one) { return now - one.since > options_.lost_after; });
    if (!lost || owner == communicator_.rank()) continue;
    // The first who counts this loss has it.
    if (communicator_.add(fmt::format("{}/lost/{}/{}", options_.name, item, owner), 1) != 1) continue;
    communicator_.add(counter("owner", item), communicator_.rank() - owner);
    return item;
  }
  return std::nullopt;
}

void WorkQueue::finish(size_t item) {
  finished_[item] = true;
  communicator_.add(counter("finished", item), 1);
}

bool WorkQueue::all_finished() {
  for (size_t item = 0; item < options_.items; ++item) {
    if (!finished_[item]) finished_[item] = communicator_.add(counter("finished", item), 0) > 0;
  }
  return std::find(finished_.begin(), finished_.end(), false) == finished_.end();
}

}  // namespace ockham
