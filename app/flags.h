// The flags that every subcommand has, and the ways to declare a flag that more than one subcommand needs. Knows no
// libtorch: the front end answers --help and usage errors with it before anything heavy is loaded.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ockham::app {

enum class FloatType { float32, float64 };
enum class DeviceKind { cpu, cuda };
enum class ColorChoice { automatic, always, never };

struct CommonFlags {
  uint64_t seed = 0;
  unsigned threads = 0;  // 0: the CPUs that the process may use
  FloatType dtype = FloatType::float32;
  DeviceKind device = DeviceKind::cpu;
  int64_t memory = 0;     // bytes; 0: ockham::default_memory_budget()
  double time_limit = 0;  // seconds; 0: none
  bool quiet = false;
  ColorChoice color = ColorChoice::automatic;
  bool json = false;
  bool no_torchscript = false;  // a TorchScript file runs the code in it
  std::string config;           // the file that was read, for the record; empty: none
};

/// The help group of the flags that every subcommand has.
inline constexpr const char* common_group = "General";

/// --seed --threads --dtype --device --memory --time-limit --quiet --color --json --no-torchscript --config, in a help
/// group of their own. A subcommand's `declare_*` calls it last, after `app.description(...)` (one sentence) and
/// `app.footer(...)` (the examples, one per line, which the help shows first). Every subcommand takes them all; the
/// help leaves out those that mean nothing to it.
void add_common_flags(CLI::App& app, CommonFlags& flags, const std::vector<std::string>& meaningless = {});

/// A flag whose value is one of a few words. A wrong word is refused with the list of the right ones and the nearest.
CLI::Option* add_words(CLI::App& app, const std::string& flag, std::function<void(size_t)> set,
                       std::vector<std::string> words, size_t standard, const std::string& help);

/// The same for an enum (or any type that can be compared): add_choice(app, "--dtype", flags.dtype, {{"float32", ...}},
/// "...").
template <class Value>
CLI::Option* add_choice(CLI::App& app, const std::string& flag, Value& value,
                        const std::vector<std::pair<std::string, Value>>& choices, const std::string& help) {
  std::vector<std::string> words;
  size_t standard = 0;
  for (size_t i = 0; i < choices.size(); ++i) {
    words.push_back(choices[i].first);
    if (choices[i].second == value) standard = i;
  }
  return add_words(
      app, flag, [&value, choices](size_t chosen) { value = choices[chosen].second; }, words, standard, help);
}

/// "1073741824", "500M", "2G", "1.5GiB", "64 kB" to bytes; K, M, G, T are powers of 1024, KB, MB, GB, TB of 1000.
/// Throws Error(usage).
int64_t parse_bytes(const std::string& text);
/// "90", "1.5", "30s", "10m", "2h", "1d" to seconds. Throws Error(usage).
double parse_seconds(const std::string& text);

/// Whether text to this file descriptor (1: stdout, 2: stderr) should be coloured: the flag, then NO_COLOR, then
/// whether it is a terminal.
bool use_color(ColorChoice choice, int descriptor);

}  // namespace ockham::app
