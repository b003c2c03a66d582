#include "ockham/linalg/binned_spectrum.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ockham/base/error.h"
#include "ockham/linalg/halves.h"

namespace ockham {
namespace {

constexpr int kMoments = 8;
constexpr int kLeadingBits = 4;            // of the mantissa: 16 bins an octave
constexpr int kShift = 52 - kLeadingBits;  // of a double's bits to its bin
constexpr uint64_t kBins = uint64_t{2048} << kLeadingBits;
constexpr uint64_t kSmallestNormal = uint64_t{1} << 52, kInfinity = uint64_t{2047} << 52;

typedef double Moments __attribute__((vector_size(kMoments * sizeof(double))));

uint64_t bits_of(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

double centre_of(uint64_t bin) {
  const uint64_t bits = (bin << kShift) | (uint64_t{1} << (kShift - 1));
  double centre = 0;
  std::memcpy(&centre, &bits, sizeof centre);
  return centre;
}

}  // namespace

/// One thread's share of the values: bins in the order in which they were met.
struct BinnedSpectrum::Collection {
  struct Sums {
    uint64_t bin = 0;
    double centre = 0, inverse = 0, count = 0;
    Moments moments = {};
  };
  std::vector<int32_t> places = std::vector<int32_t>(kBins, -1);
  std::vector<Sums> sums;
  double zeros = 0;
  bool usable = true;

  void add(double factor, const double* values, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const double value = factor * values[i];
      const uint64_t bits = bits_of(value);
      // Zero, subnormal, infinite, NaN or negative, in one comparison.
      if (bits - kSmallestNormal >= kInfinity - kSmallestNormal) {
        usable = usable && value == 0;
        ++zeros;
        continue;
      }
      Sums& bin = find(bits >> kShift);
      const double t = (value - bin.centre) * bin.inverse;
      const double t2 = t * t, t4 = t2 * t2;
      bin.count += 1;
      bin.moments += Moments{t, t2, t * t2, t4, t * t4, t2 * t4, t * t2 * t4, t4 * t4};
    }
  }

  Sums& find(uint64_t bin) {
    int32_t& place = places[bin];
    if (place < 0) {
      place = static_cast<int32_t>(sums.size());
      Sums& added = sums.emplace_back();
      added.bin = bin;
      added.centre = centre_of(bin);
      added.inverse = 1 / added.centre;
    }
    return sums[static_cast<size_t>(place)];
  }
};

BinnedSpectrum::BinnedSpectrum(const at::Tensor& values) : BinnedSpectrum(at::ones({1}, at::kDouble), values) {}

BinnedSpectrum::BinnedSpectrum(const at::Tensor& left, const at::Tensor& right) {
  if (left.dim() != 1 || right.dim() != 1 || left.scalar_type() != at::kDouble || right.scalar_type() != at::kDouble) {
    throw Error(ErrorKind::usage, "BinnedSpectrum needs float64 vectors; convert and flatten what you give it.");
  }
  const bool swap = left.numel() > right.numel();
  const at::Tensor factors = (swap ? right : left).contiguous(), values = (swap ? left : right).contiguous();
  const int64_t count = values.numel(), middle = count / 2;
  std::vector<Collection> halves(2);
  run_in_halves({[&](int half) {
    const double* first = values.data_ptr<double>() + (half == 0 ? 0 : middle);
    for (int64_t i = 0; i < factors.numel(); ++i)
      halves[static_cast<size_t>(half)].add(factors.data_ptr<double>()[i], first, half == 0 ? middle : count - middle);
  }});
  keep(halves);
}

void BinnedSpectrum::keep(const std::vector<Collection>& collections) {
  std::vector<Collection::Sums> all;
  for (const Collection& collection : collections) {
    all.insert(all.end(), collection.sums.begin(), collection.sums.end());
    zeros_ += collection.zeros;
    usable_ = usable_ && collection.usable;
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.bin < b.bin; });
  for (const Collection::Sums& sums : all) {
    if (bins_.empty() || bins_.back().centre != sums.centre) bins_.push_back({sums.centre, 0, {}});
    bins_.back().count += sums.count;
    for (int k = 0; k < kMoments; ++k) bins_.back().moments[k] += sums.moments[k];
  }
}

LogSum BinnedSpectrum::log_sum(double scale, double shift) const {
  LogSum sum;
  if (zeros_ > 0) sum = {zeros_ * std::log(shift), zeros_ / shift};
  for (const Bin& bin : bins_) {
    const double at_centre = scale * bin.centre + shift, ratio = scale * bin.centre / at_centre;
    double logs = 0, reciprocals = bin.count, power = 1;
    for (int k = 0; k < kMoments; ++k) {
      power *= -ratio;
      logs -= power * bin.moments[k] / (k + 1);
      reciprocals += power * bin.moments[k];
    }
    sum.log += bin.count * std::log(at_centre) + logs;
    sum.reciprocal += reciprocals / at_centre;
  }
  return sum;
}

}  // namespace ockham
