// The engine's entry: runs the subcommand, and turns every exception into one line and an exit code.
#include <ATen/Context.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <system_error>

#include "app/interrupt.h"
#include "app/ranks.h"
#include "app/say.h"
#include "app/subcommands.h"
#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"
#include "ockham/base/memory.h"
#include "ockham/base/platform.h"
#include "ockham/base/printable.h"
#include "ockham/network/torchscript.h"

namespace ockham::app {
namespace {

struct Run {
  int operator()(const FitFlags& flags) const { return run_fit(flags); }
  int operator()(const PredictFlags& flags) const { return run_predict(flags); }
  int operator()(const ExportFlags& flags) const { return run_export(flags); }
  int operator()(const ReportFlags& flags) const { return run_report(flags); }
  int operator()(const EvidenceFlags& flags) const { return run_evidence(flags); }
  int operator()(const DataFlags& flags) const { return run_data(flags); }
  int operator()(const PaperFlags& flags) const { return run_paper(flags); }
  int operator()(const DoctorFlags& flags) const { return run_doctor(flags); }
};

void prepare(const CommonFlags& flags) {
  if (flags.device == DeviceKind::cuda && !at::hasCUDA())
    throw Error(ErrorKind::usage,
                "--device cuda: this libtorch was built without CUDA or finds no GPU; use --device cpu");
  if (flags.no_torchscript) refuse_torchscript();
  int threads = static_cast<int>(flags.threads);
  if (threads == 0) {
    const char* wish = std::getenv("OMP_NUM_THREADS");
    threads = wish == nullptr ? available_cpus() : std::atoi(wish);
  }
  set_threads(threads);
  keep_freed_memory();
}

int fail(const std::string& sentence, int code) {
  std::fflush(stdout);
  say(fmt::format("ockham: {}\n", printable(sentence)));
  return code;
}

/// libtorch's messages go on with back-traces and hints for Python; the first line says what happened.
std::string first_line(const char* text) {
  const std::string message = text;
  return message.substr(0, message.find('\n'));
}

/// Whatever was written to a file by then is there; what was to be read here is not.
int fail_output(int error_number) {
  return fail(fmt::format("the output cannot be written: {}", failure_reason(error_number)), 1);
}

/// A full disk behind a redirected output is often noticed only when the last of it is written.
int flush_output(int code) { return std::fflush(stdout) == 0 ? code : fail_output(errno); }

int run(int argc, char** argv) {
  const CommandLine command = parse_command_line(argc, argv);
  if (!command.flags) return command.complaint.empty() ? 0 : fail(command.complaint, command.exit_code);
  prepare(common_flags(*command.flags));
  return std::visit(Run{}, *command.flags);
}

}  // namespace
}  // namespace ockham::app

extern "C" __attribute__((visibility("default"))) int ockham_engine_main(int argc, char** argv) {
  using namespace ockham;
  constexpr int failure = 1;
  app::end_cleanly_on_signals();
  try {
    return app::flush_output(app::run(argc, argv));
  } catch (const Error& error) {
    if (!app::speaks(error)) return exit_code(error.kind());
    return app::fail(error.what(), exit_code(error.kind()));
  } catch (const std::bad_alloc&) {
    return app::fail("out of memory: give a smaller --memory or --batch-size, or another structure", failure);
  } catch (const c10::Error& error) {
    return app::fail(fmt::format("libtorch failed: {}", app::first_line(error.what_without_backtrace())), failure);
  } catch (const std::system_error& error) {
    if (std::ferror(stdout)) return app::fail_output(error.code().value());
    return app::fail(fmt::format("unexpected failure: {}", app::first_line(error.what())), failure);
  } catch (const std::exception& error) {
    return app::fail(fmt::format("unexpected failure: {}", app::first_line(error.what())), failure);
  } catch (...) {
    return app::fail("unexpected failure of an unknown kind", failure);
  }
}
