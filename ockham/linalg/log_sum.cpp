#include "ockham/linalg/log_sum.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "ockham/base/error.h"
#include "ockham/linalg/vector_width.h"

namespace ockham {
namespace {

constexpr int64_t kStep = 4 * kLanes;
// Mantissas lie in [1, 2): 512 of them multiply to less than 2^512.
constexpr int64_t kFactorsBeforeRenormalising = 512;
// Pieces of the sum do not depend on the number of threads, so neither does the result.
constexpr int64_t kTermsPerPiece = 16384;
// Two million terms take a quarter of a millisecond: below that, waking threads costs more than it saves.
constexpr int64_t kPiecesPerThread = 128;
// Four factors within these bounds, and the numerators made of them, stay clear of overflow and of subnormals.
constexpr double kSmallestFast = 0x1p-200, kLargestFast = 0x1p200;

/// Sums in the making: Σ log x = Σ_lanes log(mantissa) + exponent·log 2.
struct Lanes {
  Doubles mantissa = {1, 1, 1, 1, 1, 1, 1, 1};
  Integers exponent = {};  // modulo 2^64
  Doubles reciprocal = {};
  LogSum rest;  // terms out of the fast range
};

struct Range {
  double smallest, largest;
};

OCKHAM_EACH_VECTOR_WIDTH
Range range_of(const double* x, int64_t count) {
  Range range{x[0], x[0]};
  int64_t j = 0;
  if (count >= kLanes) {
    Doubles small, large, next;
    std::memcpy(&small, x, sizeof small);
    large = small;
    for (j = kLanes; j + kLanes <= count; j += kLanes) {
      std::memcpy(&next, x + j, sizeof next);
      small = next < small ? next : small;
      large = next > large ? next : large;
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      range.smallest = std::min(range.smallest, small[lane]);
      range.largest = std::max(range.largest, large[lane]);
    }
  }
  for (; j < count; ++j) {
    range.smallest = std::min(range.smallest, x[j]);
    range.largest = std::max(range.largest, x[j]);
  }
  return range;
}

/// Four terms share one division and one step of the logarithm: 1/a + 1/b + 1/c + 1/d = ((a+b)cd + (c+d)ab) / abcd.
OCKHAM_EACH_VECTOR_WIDTH
void add_fast(const double* x, int64_t count, double scale, double shift, Lanes& lanes) {
  Doubles mantissa = lanes.mantissa, reciprocal = lanes.reciprocal;
  Integers exponent = lanes.exponent;
  int64_t j = 0;
  while (j + kStep <= count) {
    const int64_t end = std::min(count, j + kStep * (kFactorsBeforeRenormalising - 8));
    for (; j + kStep <= end; j += kStep) {
      Doubles a, b, c, d;
      std::memcpy(&a, x + j, sizeof a);
      std::memcpy(&b, x + j + kLanes, sizeof b);
      std::memcpy(&c, x + j + 2 * kLanes, sizeof c);
      std::memcpy(&d, x + j + 3 * kLanes, sizeof d);
      a = a * scale + shift;
      b = b * scale + shift;
      c = c * scale + shift;
      d = d * scale + shift;
      const Doubles ab = a * b, cd = c * d, product = ab * cd;
      reciprocal += ((a + b) * cd + (c + d) * ab) / product;
      const Integers bits = (Integers)product;
      exponent += bits >> kMantissaBits;
      exponent -= kExponentBias;
      mantissa *= (Doubles)((bits & kMantissaMask) | kBitsOfOne);
    }
    if (j + kStep <= count) {
      const Integers bits = (Integers)mantissa;
      exponent += (bits >> kMantissaBits) - kExponentBias;
      mantissa = (Doubles)((bits & kMantissaMask) | kBitsOfOne);
    }
  }
  for (; j < count; j += kLanes) {
    Doubles a = {1, 1, 1, 1, 1, 1, 1, 1}, present = {};
    for (int64_t lane = 0; lane < std::min<int64_t>(kLanes, count - j); ++lane) {
      a[lane] = x[j + lane] * scale + shift;
      present[lane] = 1;
    }
    reciprocal += present / a;
    const Integers bits = (Integers)a;
    exponent += (bits >> kMantissaBits) - kExponentBias;
    mantissa *= (Doubles)((bits & kMantissaMask) | kBitsOfOne);
  }
  const Integers bits = (Integers)mantissa;
  lanes.exponent = exponent + (bits >> kMantissaBits) - kExponentBias;
  lanes.mantissa = (Doubles)((bits & kMantissaMask) | kBitsOfOne);
  lanes.reciprocal = reciprocal;
}

void add_plain(const double* x, int64_t count, double scale, double shift, LogSum& sum) {
  for (int64_t j = 0; j < count; ++j) {
    const double term = scale * x[j] + shift;
    sum.log += std::log(term);
    sum.reciprocal += 1 / term;
  }
}

bool is_fast(const Range& range, double scale, double shift) {
  const double a = scale * range.smallest + shift, b = scale * range.largest + shift;
  return a >= kSmallestFast && a <= kLargestFast && b >= kSmallestFast && b <= kLargestFast;
}

void add_terms(const double* x, int64_t count, const Range& range, double scale, double shift, Lanes& lanes) {
  if (is_fast(range, scale, shift)) {
    add_fast(x, count, scale, shift, lanes);
  } else {
    add_plain(x, count, scale, shift, lanes.rest);
  }
}

LogSum finish(const Lanes& lanes) {
  LogSum sum = lanes.rest;
  double product = 1;
  int64_t exponent = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    product *= lanes.mantissa[lane];
    exponent += static_cast<int64_t>(lanes.exponent[lane]);
    sum.reciprocal += lanes.reciprocal[lane];
  }
  sum.log += std::log(product) + static_cast<double>(exponent) * M_LN2;
  // Bit operations lose a NaN, the division keeps it.
  if (std::isnan(sum.reciprocal)) sum.log = sum.reciprocal;
  return sum;
}

/// Σ over pieces 0 … count-1, in parallel, always in the same order.
template <class Piece>
LogSum sum_pieces(int64_t count, const Piece& piece) {
  std::vector<LogSum> sums(static_cast<size_t>(count));
  at::parallel_for(0, count, kPiecesPerThread, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sums[static_cast<size_t>(i)] = piece(i);
  });
  LogSum total;
  for (const LogSum& sum : sums) {
    total.log += sum.log;
    total.reciprocal += sum.reciprocal;
  }
  return total;
}

at::Tensor checked(const at::Tensor& x) {
  if (x.dim() == 1 && x.scalar_type() == at::kDouble) return x.contiguous();
  throw Error(ErrorKind::usage, "log_sum needs float64 vectors; convert and flatten what you give it.");
}

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

LogSum log_sum_outer(const at::Tensor& q, const at::Tensor& w, double scale, double shift) {
  if (q.numel() > w.numel()) return log_sum_outer(w, q, scale, shift);
  const at::Tensor rows = checked(q), columns = checked(w);
  const int64_t height = rows.size(0), width = columns.size(0);
  if (height == 0 || width == 0) return {};
  const double* row = rows.data_ptr<double>();
  const double* column = columns.data_ptr<double>();
  const Range range = range_of(column, width);
  const int64_t rows_per_piece = std::max<int64_t>(1, kTermsPerPiece / width);
  return sum_pieces(divide_up(height, rows_per_piece), [&](int64_t i) {
    Lanes lanes;
    const int64_t end = std::min(height, (i + 1) * rows_per_piece);
    for (int64_t k = i * rows_per_piece; k < end; ++k) add_terms(column, width, range, scale * row[k], shift, lanes);
    return finish(lanes);
  });
}

LogSum log_sum(const at::Tensor& x, double scale, double shift) {
  const at::Tensor terms = checked(x);
  const int64_t count = terms.size(0);
  const double* first = terms.data_ptr<double>();
  return sum_pieces(divide_up(count, kTermsPerPiece), [&](int64_t i) {
    const int64_t begin = i * kTermsPerPiece, length = std::min(count - begin, kTermsPerPiece);
    Lanes lanes;
    add_terms(first + begin, length, range_of(first + begin, length), scale, shift, lanes);
    return finish(lanes);
  });
}

}  // namespace ockham
