// What the processor gives to this process. Knows no libtorch: the thin front end uses it too.
#pragma once

namespace ockham {

/// CPUs in this process's affinity mask (and cgroup quota), at least 1.
int available_cpus();

/// Vector instructions that matter to a BLAS library, in order of width.
enum class VectorUnit { baseline, avx, avx2, avx512 };

/// What CPUID offers and the operating system saves; `baseline` on processors that are not x86-64.
VectorUnit cpu_vector_unit();

}  // namespace ockham
