// Ranks that go the same way: what fails on one fails on all, in the same sentence, instead of leaving the others
// waiting.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ockham/base/error.h"
#include "ockham/distributed/communicator.h"

namespace ockham {

/// What all ranks throw together. The sentence is that of the lowest rank that failed; when that is not rank 0, it
/// begins with "rank r: ".
class SharedError : public Error {
 public:
  using Error::Error;
};

/// Collective. Does the work on every rank; when it throws on any, all throw a SharedError with its kind. What is no
/// std::exception (an interruption) goes through on its own rank only, and so does a lost peer, which all ranks notice
/// by themselves.
void attempt_together(Communicator& communicator, const std::function<void()>& work);

/// Collective. The text of the rank `root`, on every rank.
std::string broadcast_text(Communicator& communicator, const std::string& text, int64_t root = 0);

/// Collective. True when it is on any rank.
bool is_true_anywhere(Communicator& communicator, bool value);

/// Collective. The value of every rank, by rank.
std::vector<int64_t> gather_counts(Communicator& communicator, int64_t value);

}  // namespace ockham
