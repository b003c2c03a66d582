#include "ockham/linalg/student.h"

#include <cmath>

namespace ockham {
namespace {

/// P(|T| <= tan θ · √ν), a finite sum of powers of the cosine for whole degrees of freedom ν.
double probability_within(int64_t degrees, double angle) {
  const double sine = std::sin(angle), square = std::cos(angle) * std::cos(angle);
  const bool odd = degrees % 2 == 1;
  if (degrees == 1) return angle * 2 / M_PI;
  double term = odd ? std::cos(angle) : 1, sum = term;
  for (int64_t k = odd ? 3 : 2; k <= degrees - 2; k += 2) {
    term *= square * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  return odd ? (angle + sine * sum) * 2 / M_PI : sine * sum;
}

}  // namespace

double student_quantile(int64_t degrees, double probability) {
  double low = 0, high = M_PI / 2;
  for (int step = 0; step < 80; ++step) {
    const double middle = (low + high) / 2;
    (probability_within(degrees, middle) < probability ? low : high) = middle;
  }
  return std::tan(low) * std::sqrt(static_cast<double>(degrees));
}

}  // namespace ockham
