#include "ockham/base/blas_core.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

namespace ockham {
namespace {

using GetCoreName = char* (*)();

std::string core_name_by(void* symbol) {
  if (symbol == nullptr) return {};
  const char* name = reinterpret_cast<GetCoreName>(symbol)();
  return name == nullptr ? std::string() : std::string(name);
}

/// A child, because loading OpenBLAS here would settle its choice. Costs a few milliseconds.
std::string ask_child_for_core() {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return {};
  }
  if (child == 0) {
    setenv("OPENBLAS_NUM_THREADS", "1", 1);  // no thread pool for one question
    void* library = dlopen("libopenblas.so.0", RTLD_NOW);
    if (library == nullptr) library = dlopen("libopenblas.so", RTLD_NOW);
    const std::string core = library == nullptr ? std::string() : core_name_by(dlsym(library, "openblas_get_corename"));
    const ssize_t written = write(ends[1], core.data(), core.size());
    _exit(written == static_cast<ssize_t>(core.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string core;
  char buffer[64];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
    core.append(buffer, static_cast<size_t>(count));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return core;
}

}  // namespace

std::string openblas_core() {
  if (void* symbol = dlsym(RTLD_DEFAULT, "openblas_get_corename")) return core_name_by(symbol);
  return ask_child_for_core();
}

VectorUnit core_vector_unit(const std::string& core) {
  std::string name = core;
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  auto is_one_of = [&name](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&name](const char* one) { return name == one; });
  };
  if (is_one_of({"skylakex", "cooperlake", "sapphirerapids"})) return VectorUnit::avx512;
  if (is_one_of({"haswell", "zen"})) return VectorUnit::avx2;
  if (is_one_of({"sandybridge", "bulldozer", "piledriver", "steamroller", "excavator"})) return VectorUnit::avx;
  return VectorUnit::baseline;
}

std::string recommended_blas_core(VectorUnit cpu, const std::string& core) {
  if (core.empty() || core_vector_unit(core) >= cpu) return {};
  if (cpu == VectorUnit::avx512) return "SkylakeX";
  if (cpu == VectorUnit::avx2) return "Haswell";
  return {};
}

void choose_blas_core() {
  if (std::getenv(blas_core_variable) != nullptr) return;
  const VectorUnit cpu = cpu_vector_unit();
  if (cpu < VectorUnit::avx2) return;
  const std::string better = recommended_blas_core(cpu, openblas_core());
  if (!better.empty()) setenv(blas_core_variable, better.c_str(), 0);
}

}  // namespace ockham
