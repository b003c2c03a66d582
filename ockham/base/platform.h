// What the machine gives and how libtorch and the BLAS library use it; see docs/platform.md for the advice behind it.
#pragma once

#include <string>
#include <vector>

#include "ockham/base/cpu.h"  // available_cpus

namespace ockham {

/// Sets the threads of ATen, OpenMP and OpenBLAS together; at::set_num_threads alone does not reach pthread-OpenBLAS.
void set_threads(int threads);

/// Runs the enclosed scope with one BLAS thread: for loops that are parallel themselves and for small matrices. The
/// number is the process's, so it is one as long as any such object lives, in whichever thread; the last one to go
/// restores the number from before the first. `set_threads` meanwhile says what will be restored.
class SingleBlasThread {
 public:
  SingleBlasThread();
  ~SingleBlasThread();
  SingleBlasThread(const SingleBlasThread&) = delete;
  SingleBlasThread& operator=(const SingleBlasThread&) = delete;
};

/// Threads that work in two halves (linalg/halves.h) may use from here: those of ATen, or what a scope below says.
int allowed_threads();

/// What the calling thread does while this lives uses no further thread of ATen or OpenMP, and the BLAS has one: the
/// operators of a small network take less time than other threads take to wake. Work in two halves may still use
/// `allowed` threads.
class SerialOperators {
 public:
  explicit SerialOperators(int allowed = allowed_threads());
  ~SerialOperators();
  SerialOperators(const SerialOperators&) = delete;
  SerialOperators& operator=(const SerialOperators&) = delete;

 private:
  SingleBlasThread blas_;
  int previous_threads_, previous_allowed_;
};

/// "I run on this thread alone". For a worker that is one of several, at the start of its function:
///     std::thread([&] { const SingleThread single;  train_online(...); })
/// Two workers then give the same bits at once as one after the other. Other threads keep their number of ATen threads.
class SingleThread {
  SerialOperators serial_{1};
};

struct PlatformReport {
  std::string libtorch_version;
  std::string blas_library;      // e.g. "OpenBLAS 0.3.21"; empty if unknown
  std::string blas_core;         // core type OpenBLAS runs with, e.g. "SkylakeX"; empty if unknown
  std::string recommended_core;  // what OPENBLAS_CORETYPE should be on this CPU; empty if OpenBLAS knows the CPU
  int cpus = 1;
  int aten_threads = 1;
  int blas_threads = 1;
  std::vector<std::string> advice;  // one sentence each; empty when nothing should change
};

/// Looks at the running process and says what to change; a C++ program calls it once at start.
PlatformReport check_platform();

}  // namespace ockham
