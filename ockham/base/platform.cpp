#include "ockham/base/platform.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "ockham/base/blas_core.h"

namespace ockham {
namespace {

/// OpenBLAS's own functions, found in the running process: the program may run with another BLAS, which has none of
/// them.
struct OpenBlas {
  void (*set_num_threads)(int) = nullptr;
  int (*get_num_threads)() = nullptr;
  char* (*get_config)() = nullptr;
  void (*set_openmp_threads)(int) = nullptr;  // of the calling thread
};

const OpenBlas& openblas() {
  static const OpenBlas found = [] {
    OpenBlas functions;
    auto find = [](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(RTLD_DEFAULT, name));
    };
    find(functions.set_num_threads, "openblas_set_num_threads");
    find(functions.get_num_threads, "openblas_get_num_threads");
    find(functions.get_config, "openblas_get_config");
    find(functions.set_openmp_threads, "omp_set_num_threads");
    return functions;
  }();
  return found;
}

int blas_threads() { return openblas().get_num_threads ? openblas().get_num_threads() : at::get_num_threads(); }

void set_blas_threads(int threads) {
  if (openblas().set_num_threads) openblas().set_num_threads(threads);
}

/// Who holds the process's BLAS at one thread, and what comes after them.
struct SingleBlas {
  std::mutex mutex;
  int holders = 0;
  int previous = 1;
};

SingleBlas& single_blas() {
  static SingleBlas state;
  return state;
}

thread_local int own_allowance = 0;  // of allowed_threads(); 0: none but ATen's

/// The file that matrix products really come from: on Debian libblas.so.3 is an alternative and may be the slow
/// reference BLAS.
std::string blas_file() {
  void* product = dlsym(RTLD_DEFAULT, "sgemm_");
  Dl_info info{};
  if (product == nullptr || dladdr(product, &info) == 0 || info.dli_fname == nullptr) return {};
  std::unique_ptr<char, decltype(&std::free)> resolved(realpath(info.dli_fname, nullptr), &std::free);
  return resolved ? resolved.get() : info.dli_fname;
}

/// "OpenBLAS 0.3.21" of "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
std::string blas_library() {
  if (!openblas().get_config) return at::hasMKL() ? "MKL" : "";
  const std::string config = openblas().get_config();
  return config.substr(0, config.find(' ', config.find(' ') + 1));
}

bool is_fast_blas(const std::string& file) {
  if (file.empty() || at::hasMKL()) return true;  // not known to be slow
  for (const char* name : {"openblas", "mkl", "blis", "atlas", "armpl", "torch"})
    if (file.find(name) != std::string::npos) return true;
  return false;
}

std::vector<std::string> advise(const PlatformReport& report) {
  std::vector<std::string> advice;
  const std::string file = blas_file();
  if (!is_fast_blas(file))
    advice.push_back(
        fmt::format("matrix products come from {}, a slow BLAS: install libopenblas-dev and select it with "
                    "update-alternatives --config libblas.so.3-x86_64-linux-gnu",
                    file));
  if (!report.recommended_core.empty())
    advice.push_back(
        fmt::format("OpenBLAS runs {} kernels on a processor that has better: set OPENBLAS_CORETYPE={} in the "
                    "environment before the program starts",
                    report.blas_core, report.recommended_core));
  auto compare = [&](const char* who, int threads) {
    if (threads < report.cpus)
      advice.push_back(
          fmt::format("{} uses {} of {} CPUs: call ockham::set_threads(ockham::available_cpus()) or give --threads {}",
                      who, threads, report.cpus, report.cpus));
    if (threads > report.cpus)
      advice.push_back(fmt::format("{} uses {} threads on {} CPUs, which slows both down: give at most {}", who,
                                   threads, report.cpus, report.cpus));
  };
  compare("libtorch", report.aten_threads);
  if (openblas().get_num_threads) compare("OpenBLAS", report.blas_threads);
  return advice;
}

}  // namespace

void set_threads(int threads) {
  threads = std::max(threads, 1);
  at::set_num_threads(threads);
  if (openblas().set_openmp_threads) openblas().set_openmp_threads(threads);
  SingleBlas& single = single_blas();
  const std::lock_guard<std::mutex> lock(single.mutex);
  single.previous = threads;
  if (single.holders == 0) set_blas_threads(threads);
}

SingleBlasThread::SingleBlasThread() {
  SingleBlas& single = single_blas();
  const std::lock_guard<std::mutex> lock(single.mutex);
  if (single.holders++ > 0) return;
  single.previous = blas_threads();
  if (single.previous != 1) set_blas_threads(1);
}

SingleBlasThread::~SingleBlasThread() {
  SingleBlas& single = single_blas();
  const std::lock_guard<std::mutex> lock(single.mutex);
  if (--single.holders > 0) return;
  if (single.previous != 1) set_blas_threads(single.previous);
}

int allowed_threads() { return own_allowance > 0 ? own_allowance : at::get_num_threads(); }

// Not at::set_num_threads, which also decides for threads to come. Asking ATen first keeps it from setting OpenMP's
// number later, on this thread's first parallel operator.
SerialOperators::SerialOperators(int allowed)
    : previous_threads_(at::get_num_threads()), previous_allowed_(own_allowance) {
  own_allowance = allowed;
  if (openblas().set_openmp_threads) openblas().set_openmp_threads(1);
}

SerialOperators::~SerialOperators() {
  own_allowance = previous_allowed_;
  if (openblas().set_openmp_threads) openblas().set_openmp_threads(previous_threads_);
}

PlatformReport check_platform() {
  PlatformReport report;
  report.libtorch_version = TORCH_VERSION;
  report.blas_library = blas_library();
  if (openblas().get_config) report.blas_core = openblas_core();
  report.recommended_core = recommended_blas_core(cpu_vector_unit(), report.blas_core);
  report.cpus = available_cpus();
  report.aten_threads = at::get_num_threads();
  report.blas_threads = blas_threads();
  report.advice = advise(report);
  return report;
}

}  // namespace ockham
