// Student's t: how many standard errors a mean of few values may be off.
#pragma once

#include <cstdint>

namespace ockham {

/// The t with P(|T| <= t) = `probability` for this many degrees of freedom (at least one); 0 < probability < 1.
double student_quantile(int64_t degrees, double probability);

}  // namespace ockham
