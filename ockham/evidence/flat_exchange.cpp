#include "ockham/evidence/flat_exchange.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "ockham/linalg/mirror.h"

namespace ockham {
namespace {

bool same_memory(const at::Tensor& a, const at::Tensor& b) {
  return a.data_ptr() == b.data_ptr() && a.numel() == b.numel();
}

int64_t triangle(int64_t n) { return n * (n + 1) / 2; }

/// Moves the lower triangle of [n, n] to or from `packed`, row by row; returns what follows it there.
enum class Direction { pack, unpack };
double* move_triangle(const at::Tensor& matrix, double* packed, Direction direction) {
  double* const first = matrix.data_ptr<double>();
  const int64_t n = matrix.size(0), down = matrix.stride(0), right = matrix.stride(1);
  for (int64_t i = 0; i < n; ++i) {
    double* place = first + i * down;
    for (int64_t j = 0; j <= i; ++j, place += right, ++packed) {
      if (direction == Direction::pack)
        *packed = *place;
      else
        *place = *packed;
    }
  }
  return packed;
}

std::vector<at::Tensor> matrices_of(const at::Tensor& tensor) {
  return tensor.dim() == 2 ? std::vector<at::Tensor>{tensor} : tensor.unbind(0);
}

}  // namespace

void FlatSum::add_once(const at::Tensor& tensor, bool symmetric) {
  if (!tensor.defined() || tensor.numel() == 0) return;
  const auto known = [&](const Item& item) { return same_memory(item.tensor, tensor); };
  if (std::any_of(items_.begin(), items_.end(), known)) return;
  items_.push_back({tensor, symmetric});
  numbers_ +=
      symmetric ? tensor.numel() / (tensor.size(-1) * tensor.size(-1)) * triangle(tensor.size(-1)) : tensor.numel();
}

void FlatSum::add(at::Tensor& tensor) { add_once(tensor, false); }
void FlatSum::add_symmetric(at::Tensor& tensor) { add_once(tensor, true); }

void FlatSum::run(Communicator& communicator) {
  if (items_.empty()) return;
  at::Tensor buffer = at::empty({numbers_}, at::kDouble);
  double* place = buffer.data_ptr<double>();
  for (const Item& item : items_) {
    if (item.symmetric) {
      for (const at::Tensor& matrix : matrices_of(item.tensor)) place = move_triangle(matrix, place, Direction::pack);
    } else {
      at::from_blob(place, item.tensor.sizes(), at::kDouble).copy_(item.tensor);
      place += item.tensor.numel();
    }
  }
  communicator.all_reduce_sum(buffer);
  place = buffer.data_ptr<double>();
  for (const Item& item : items_) {
    if (item.symmetric) {
      for (at::Tensor matrix : matrices_of(item.tensor)) {
        place = move_triangle(matrix, place, Direction::unpack);
        mirror_lower(matrix);
      }
    } else {
      item.tensor.copy_(at::from_blob(place, item.tensor.sizes(), at::kDouble));
      place += item.tensor.numel();
    }
  }
}

void FlatGather::add(at::Tensor& tensor) {
  if (!tensor.defined()) return;
  for (std::vector<at::Tensor*>& known : items_) {
    if (same_memory(*known.front(), tensor) && tensor.sizes() == known.front()->sizes()) {
      known.push_back(&tensor);
      return;
    }
  }
  items_.push_back({&tensor});
}

void FlatGather::run(Communicator& communicator) {
  if (items_.empty()) return;
  const int64_t ranks = communicator.size(), count = static_cast<int64_t>(items_.size());
  at::Tensor lengths = at::zeros({ranks, count}, at::kLong);
  for (int64_t i = 0; i < count; ++i) lengths[communicator.rank()][i] = items_[static_cast<size_t>(i)].front()->size(0);
  communicator.all_reduce_sum(lengths);
  const auto length = lengths.accessor<int64_t, 2>();
  std::vector<std::vector<at::Tensor>> pieces(items_.size());  // [item][rank]
  for (int64_t rank = 0; rank < ranks; ++rank) {
    FlatCopy copy;
    for (size_t i = 0; i < items_.size(); ++i) {
      const at::Tensor& mine = *items_[i].front();
      std::vector<int64_t> shape = mine.sizes().vec();
      shape[0] = length[rank][static_cast<int64_t>(i)];
      pieces[i].push_back(rank == communicator.rank() ? mine.contiguous() : at::empty(shape, at::kDouble));
    }
    for (std::vector<at::Tensor>& of_item : pieces) copy.add(of_item.back());
    copy.run(communicator, rank);
  }
  for (size_t i = 0; i < items_.size(); ++i) {
    const at::Tensor whole = at::cat(pieces[i], 0);
    for (at::Tensor* place : items_[i]) *place = whole;
  }
}

void FlatCopy::add(at::Tensor& tensor) {
  if (tensor.defined() && tensor.numel() > 0) items_.push_back(&tensor);
}

void FlatCopy::run(Communicator& communicator, int64_t root) {
  if (items_.empty()) return;
  int64_t numbers = 0;
  for (const at::Tensor* item : items_) numbers += item->numel();
  at::Tensor buffer = at::empty({numbers}, at::kDouble);
  int64_t first = 0;
  if (communicator.rank() == root) {
    for (const at::Tensor* item : items_) {
      buffer.narrow(0, first, item->numel()).view(item->sizes()).copy_(*item);
      first += item->numel();
    }
  }
  communicator.broadcast(buffer, root);
  if (communicator.rank() == root) return;
  first = 0;
  for (const at::Tensor* item : items_) {
    item->copy_(buffer.narrow(0, first, item->numel()).view(item->sizes()));
    first += item->numel();
  }
}

}  // namespace ockham
