// Environment variables that OpenBLAS and OpenMP read once, when they are loaded. Knows no libtorch: the thin front end
// sets them before it loads the engine.
#pragma once

namespace ockham {

/// Sets what the user has not set:
/// OPENBLAS_CORETYPE, when OpenBLAS would choose worse kernels by itself (base/blas_core.h), and
/// OMP_WAIT_POLICY=passive: OpenMP's threads, which ATen uses, otherwise spin on the very CPUs that OpenBLAS's own
/// threads need next.
void tune_environment();

/// The same for a program that is linked to libtorch, whose libraries were loaded before main: starts the program
/// again, once, when a variable had to be set. Call it first in main.
void restart_with_tuned_environment(char** argv);

}  // namespace ockham
