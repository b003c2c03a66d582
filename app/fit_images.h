// Images for `ockham fit`: a directory in a known layout, or NumPy arrays.
#pragma once

#include "app/fit_data.h"

namespace ockham::app {

/// Says what was found, and what is for testing. Bytes stay bytes.
FitData read_fit_images(const FitFlags& flags, Messages& messages);

/// Throws Error(usage) for flags that only images have.
void expect_table_flags(const FitFlags& flags);

}  // namespace ockham::app
