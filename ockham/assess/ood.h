// How well a score tells inputs from outside the training distribution (out of distribution, OOD) from those inside.
#pragma once

#include <ATen/core/Tensor.h>

namespace ockham {

/// Area under the ROC curve: P(s_out > s_in) + ½ P(s_out = s_in) over all pairs, for a score that is larger further out
/// of the distribution, e.g. the predictive entropy. By ranks in O(n log n), with ties exact:
///   (Σ ranks of `outside` - M(M + 1)/2) / (N M).
/// inside [N], outside [M] floating point; infinite scores are ordered like any other. 0.5 is chance, 1 is perfect.
/// Throws Error(usage) for wrong types and shapes, Error(data) when a side is empty or has a NaN.
double area_under_roc(const at::Tensor& inside, const at::Tensor& outside);

/// -Σ_c p_c log p_c of class probabilities [N, C]: [N], the score by which uncertain predictions are told.
at::Tensor predictive_entropy(const at::Tensor& probabilities);

}  // namespace ockham
