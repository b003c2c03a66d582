#include "ockham/linalg/binned_spectrum.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ockham/base/error.h"
#include "ockham/linalg/halves.h"
#include "ockham/linalg/vector_width.h"

namespace ockham {
namespace {

constexpr int kMoments = 8;
constexpr int kLeadingBits = 4;            // of the mantissa: 16 bins an octave
constexpr int kShift = 52 - kLeadingBits;  // of a double's bits to its bin
constexpr uint64_t kBins = uint64_t{2048} << kLeadingBits;

static_assert(kMoments == kLanes, "moments are added as one vector");

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

/// Σ count log(s c + δ) + …, Σ 1/(s x + δ) over bins [0, count), a multiple of the lanes; the header has the series.
/// `moments` are kMoments rows of `count`.
OCKHAM_EACH_VECTOR_WIDTH
LogSum sum_bins(const double* centres, const double* counts, const double* moments, int64_t count, double scale,
                double shift) {
  // log m = 2 atanh(s), s = (m - 1)/(m + 1), |s| < 0.172 for m in [√½, √2): ten terms of the series leave out 1e-17.
  constexpr double kRootOfTwo = 1.4142135623730951, kLogOfTwo = 0.6931471805599453;
  constexpr uint64_t kBitsOf2To52 = uint64_t{0x433} << kMantissaBits;
  Doubles log_sum = {}, reciprocal_sum = {};
  for (int64_t i = 0; i < count; i += kLanes) {
    Doubles centre, number, moment[kMoments];
    std::memcpy(&centre, centres + i, sizeof centre);
    std::memcpy(&number, counts + i, sizeof number);
    for (int k = 0; k < kMoments; ++k) std::memcpy(&moment[k], moments + k * count + i, sizeof moment[k]);
    const Doubles scaled = centre * scale, at_centre = scaled + shift, ratio = scaled / at_centre;
    Doubles logs = moment[kMoments - 1] * (1.0 / kMoments), reciprocals = moment[kMoments - 1];
    for (int k = kMoments - 1; k > 0; --k) {
      logs = moment[k - 1] * (1.0 / k) - ratio * logs;
      reciprocals = moment[k - 1] - ratio * reciprocals;
    }
    logs *= ratio;
    reciprocals = number - ratio * reciprocals;

    const Integers bits = (Integers)at_centre;
    const Integers outside = bits - kSmallestNormal >= kInfinity - kSmallestNormal;
    Doubles mantissa = (Doubles)((bits & kMantissaMask) | kBitsOfOne);
    Doubles exponent = (Doubles)((bits >> kMantissaBits) | kBitsOf2To52) - (0x1p52 + kExponentBias);
    const Integers large = (Integers)(mantissa > kRootOfTwo);
    exponent += (Doubles)(large & kBitsOfOne);
    mantissa = (Doubles)((Integers)mantissa - (large & kSmallestNormal));
    const Doubles s = (mantissa - 1.0) / (mantissa + 1.0), square = s * s;
    Doubles series = square * (1.0 / 21) + 1.0 / 19;
    for (int k = 17; k > 0; k -= 2) series = series * square + 1.0 / k;
    Doubles log_at_centre = exponent * kLogOfTwo + 2 * s * series;
    for (int lane = 0; lane < kLanes; ++lane)
      if (outside[lane]) log_at_centre[lane] = std::log(at_centre[lane]);

    log_sum += number * log_at_centre + logs;
    reciprocal_sum += reciprocals / at_centre;
  }
  LogSum sum;
  for (int lane = 0; lane < kLanes; ++lane) {
    sum.log += log_sum[lane];
    sum.reciprocal += reciprocal_sum[lane];
  }
  return sum;
}

}  // namespace

/// One thread's share of the values: bins in the order in which they were met.
struct BinnedSpectrum::Collection {
  struct Sums {
    uint64_t bin = 0;
    double centre = 0, inverse = 0, count = 0;
    Doubles moments = {};
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
      bin.moments += Doubles{t, t2, t * t2, t4, t * t4, t2 * t4, t * t2 * t4, t4 * t4};
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
  std::vector<Collection::Sums> bins;
  for (const Collection::Sums& sums : all) {
    if (!bins.empty() && bins.back().bin == sums.bin) {
      bins.back().count += sums.count;
      bins.back().moments += sums.moments;
    } else {
      bins.push_back(sums);
    }
  }
  const size_t count = (bins.size() + kLanes - 1) / kLanes * kLanes;
  centres_.assign(count, 1);  // of bins without values, which fill the last vector
  counts_.assign(count, 0);
  moments_.assign(kMoments * count, 0);
  for (size_t i = 0; i < bins.size(); ++i) {
    centres_[i] = bins[i].centre;
    counts_[i] = bins[i].count;
    for (int k = 0; k < kMoments; ++k) moments_[static_cast<size_t>(k) * count + i] = bins[i].moments[k];
  }
}

LogSum BinnedSpectrum::log_sum(double scale, double shift) const {
  LogSum sum =
      sum_bins(centres_.data(), counts_.data(), moments_.data(), static_cast<int64_t>(centres_.size()), scale, shift);
  if (zeros_ > 0) {
    sum.log += zeros_ * std::log(shift);
    sum.reciprocal += zeros_ / shift;
  }
  return sum;
}

}  // namespace ockham
