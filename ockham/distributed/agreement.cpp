#include "ockham/distributed/agreement.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstring>
#include <new>
#include <optional>

namespace ockham {
namespace {

struct Failure {
  ErrorKind kind = ErrorKind::failure;
  std::string sentence;
};

/// libtorch's messages go on with back-traces.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::optional<Failure> failure_of(const std::function<void()>& work) {
  try {
    work();
    return std::nullopt;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::peer_lost) throw;
    return Failure{error.kind(), error.what()};
  } catch (const std::bad_alloc&) {
    return Failure{ErrorKind::failure, "out of memory: give a smaller --memory or --batch-size, or another structure"};
  } catch (const c10::Error& error) {
    return Failure{ErrorKind::failure, "libtorch failed: " + first_line(error.what_without_backtrace())};
  } catch (const std::exception& error) {
    return Failure{ErrorKind::failure, "unexpected failure: " + first_line(error.what())};
  }
}

}  // namespace

std::vector<int64_t> gather_counts(Communicator& communicator, int64_t value) {
  at::Tensor values = at::zeros({communicator.size()}, at::kLong);
  values[communicator.rank()] = value;
  communicator.all_reduce_sum(values);
  return {values.data_ptr<int64_t>(), values.data_ptr<int64_t>() + values.numel()};
}

std::string broadcast_text(Communicator& communicator, const std::string& text, int64_t root) {
  if (communicator.size() == 1) return text;
  at::Tensor length = at::full({1}, static_cast<int64_t>(text.size()), at::kLong);
  communicator.broadcast(length, root);
  at::Tensor bytes = at::zeros({length.item<int64_t>()}, at::kByte);
  if (communicator.rank() == root && !text.empty()) std::memcpy(bytes.data_ptr(), text.data(), text.size());
  if (bytes.numel() > 0) communicator.broadcast(bytes, root);
  return {static_cast<const char*>(bytes.data_ptr()), static_cast<size_t>(bytes.numel())};
}

bool is_true_anywhere(Communicator& communicator, bool value) {
  at::Tensor count = at::full({1}, value ? 1 : 0, at::kLong);
  communicator.all_reduce_sum(count);
  return count.item<int64_t>() > 0;
}

void attempt_together(Communicator& communicator, const std::function<void()>& work) {
  if (communicator.size() == 1) return work();
  const std::optional<Failure> mine = failure_of(work);
  const std::vector<int64_t> kinds = gather_counts(communicator, mine ? static_cast<int64_t>(mine->kind) + 1 : 0);
  for (size_t rank = 0; rank < kinds.size(); ++rank) {
    if (kinds[rank] == 0) continue;
    const std::string sentence =
        broadcast_text(communicator, mine ? mine->sentence : std::string(), static_cast<int64_t>(rank));
    throw SharedError(static_cast<ErrorKind>(kinds[rank] - 1),
                      rank == 0 ? sentence : fmt::format("rank {}: {}", rank, sentence));
  }
}

}  // namespace ockham
