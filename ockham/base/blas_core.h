// Which kernels OpenBLAS should run on this processor. OpenBLAS reads OPENBLAS_CORETYPE once, when it is loaded, and
// takes a processor that is newer than itself for an old one. Knows no libtorch: the thin front end uses it too.
#pragma once

#include <string>

#include "ockham/base/cpu.h"

namespace ockham {

inline constexpr const char* blas_core_variable = "OPENBLAS_CORETYPE";

/// The core type that OpenBLAS runs with in this process; when it is not loaded, the one that it would choose by itself
/// (a child process loads it and says). Empty when there is no OpenBLAS.
std::string openblas_core();

/// Vector instructions that the kernels of a core type use: "Haswell" is avx2, "SkylakeX" is avx512, an unknown one is
/// baseline.
VectorUnit core_vector_unit(const std::string& core);

/// What OPENBLAS_CORETYPE should be: SkylakeX for AVX-512, Haswell for AVX2; empty when `core` uses the processor as
/// well already.
std::string recommended_blas_core(VectorUnit cpu, const std::string& core);

/// Sets OPENBLAS_CORETYPE when OpenBLAS, not loaded yet, would choose worse.
/// Never touches a setting of the user.
void choose_blas_core();

}  // namespace ockham
