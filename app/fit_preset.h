// Settings of the paper's experiments on images, as its text gives them.
#pragma once

#include "app/fit_flags.h"
#include "app/messages.h"

namespace ockham::app {

/// Fills every absent flag that the preset has, and says them.
///   paper-images (Section 4.3): 300 epochs of batches of 128; Adam with rate 0.001, or SGD with momentum 0.9 and rate
///     0.01 as soon as a candidate is a ResNet; a tenth of the rate after 150, 225 and 275 epochs; F = 10, K = 100,
///     γ = 1, B = 0; Kronecker-factored GGN with the paper's rule for convolutions; a precision per parameter tensor,
///     starting at 1; the best state by evidence over all epochs; likelihood weight 5 with augmentation.
///   paper-architectures (Appendix): the same with 250 epochs, F = 5, and SGD of rate 0.01 for all.
/// Where the text is silent (the rate of Adam), the usual value is taken.
void apply_preset(FitFlags& flags, Messages& messages);

}  // namespace ockham::app
