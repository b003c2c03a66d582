#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "app/doctor_flags.h"
#include "app/kernel_speed.h"
#include "ockham/base/memory.h"
#include "ockham/base/platform.h"

namespace ockham::app {
namespace {

struct Findings {
  PlatformReport platform;
  std::vector<KernelSpeed> speeds;
  double load = 0;  // runnable processes of the last minute, before the measurement
  int64_t memory_available = 0;
  int64_t memory_budget = 0;
};

Findings examine(const CommonFlags& flags) {
  double load_before = 0;
  if (getloadavg(&load_before, 1) != 1) load_before = 0;
  Findings findings;
  findings.platform = check_platform();
  findings.memory_available = available_memory_bytes();
  findings.memory_budget = flags.memory > 0 ? flags.memory : default_memory_budget();
  findings.load = load_before;
  findings.speeds = measure_kernels();
  return findings;
}

std::string as_json(const Findings& findings) {
  const PlatformReport& platform = findings.platform;
  nlohmann::ordered_json speeds;
  for (const KernelSpeed& speed : findings.speeds) speeds[speed.name] = speed.gflops;
  const nlohmann::ordered_json report = {
      {"schema", 1},
      {"versions",
       {{"ockham", OCKHAM_VERSION}, {"libtorch", platform.libtorch_version}, {"blas", platform.blas_library}}},
      {"blas_core", platform.blas_core},
      {"recommended_blas_core", platform.recommended_core},
      {"threads", {{"cpus", platform.cpus}, {"aten", platform.aten_threads}, {"blas", platform.blas_threads}}},
      {"gflops", speeds},
      {"load", findings.load},
      {"memory", {{"available_bytes", findings.memory_available}, {"budget_bytes", findings.memory_budget}}},
      {"advice", platform.advice}};
  return report.dump(2);
}

/// Text for a terminal, in sections of name and value.
class Page {
 public:
  explicit Page(bool color) : color_(color) {}

  void section(const char* title) { text_ += fmt::format("{}{}{}\n", text_.empty() ? "" : "\n", bold(title), ""); }
  void row(const std::string& name, const std::string& value, const std::string& note = "") {
    text_ += fmt::format("  {:<14}{}{}\n", name, value, note.empty() ? "" : "  " + paint(note, "2"));
  }
  void speed(const KernelSpeed& speed, double fastest) {
    constexpr int width = 24;
    const int length = fastest > 0 ? std::max(1, static_cast<int>(width * speed.gflops / fastest + 0.5)) : 0;
    std::string bar;
    for (int i = 0; i < length; ++i) bar += "█";
    text_ += fmt::format("  {:<14}{:>6.0f} GFLOP/s  {}{}  {}\n", speed.name, speed.gflops, paint(bar, "36"),
                         std::string(static_cast<size_t>(width - length), ' '), paint(speed.description, "2"));
  }
  void good(const std::string& sentence) { text_ += fmt::format("  {} {}\n", paint("✓", "32"), sentence); }
  void warn(const std::string& sentence) { text_ += fmt::format("  {} {}\n", paint("!", "33;1"), sentence); }
  const std::string& text() const { return text_; }

 private:
  std::string bold(const std::string& text) const { return paint(text, "1"); }
  std::string paint(const std::string& text, const char* style) const {
    return color_ ? fmt::format("\x1b[{}m{}\x1b[0m", style, text) : text;
  }
  bool color_;
  std::string text_;
};

std::string as_text(const Findings& findings, bool color) {
  const PlatformReport& platform = findings.platform;
  Page page(color);
  page.section("Versions");
  page.row("ockham", OCKHAM_VERSION);
  page.row("libtorch", platform.libtorch_version);
  page.row("BLAS", platform.blas_library.empty() ? "unknown" : platform.blas_library);
  page.row("BLAS core", platform.blas_core.empty() ? "unknown" : platform.blas_core,
           platform.recommended_core.empty() ? "right for this processor"
                                             : fmt::format("this processor wants {}", platform.recommended_core));
  page.section("Threads");
  page.row("CPUs", std::to_string(platform.cpus));
  page.row("libtorch", std::to_string(platform.aten_threads));
  page.row("BLAS", std::to_string(platform.blas_threads));
  page.section("Speed");
  double fastest = 0;
  for (const KernelSpeed& speed : findings.speeds) fastest = std::max(fastest, speed.gflops);
  for (const KernelSpeed& speed : findings.speeds) page.speed(speed, fastest);
  if (findings.load > 0.5 * platform.cpus)
    page.warn(fmt::format("the machine is busy (load {:.1f} on {} CPUs): these numbers are lower than what it can do",
                          findings.load, platform.cpus));
  page.section("Memory");
  page.row("available", human_bytes(findings.memory_available));
  page.row("budget", human_bytes(findings.memory_budget), "change it with --memory");
  page.section("What to change");
  for (const std::string& sentence : platform.advice) page.warn(sentence);
  if (platform.advice.empty()) page.good("nothing to change");
  return page.text();
}

}  // namespace

int run_doctor(const DoctorFlags& flags) {
  const Findings findings = examine(flags.common);
  if (flags.common.json) {
    fmt::print("{}\n", as_json(findings));
  } else {
    fmt::print("{}", as_text(findings, use_color(flags.common.color, 1)));
  }
  return 0;
}

}  // namespace ockham::app
