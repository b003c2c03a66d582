#include "app/flags.h"

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "ockham/base/error.h"
#include "ockham/base/nearest_word.h"

namespace ockham::app {
namespace {

/// A number and the unit after it, in lower case: "1.5 GiB" to {1.5, "gib"}.
std::pair<double, std::string> split_unit(const std::string& text) {
  const char* start = text.c_str();
  char* end = nullptr;
  const double number = std::strtod(start, &end);
  std::string unit;
  for (const char* c = end; *c != '\0'; ++c)
    if (!std::isspace(static_cast<unsigned char>(*c)))
      unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
  if (end == start || !std::isfinite(number)) return {std::numeric_limits<double>::quiet_NaN(), unit};
  return {number, unit};
}

/// A flag whose text is read by `parse`. Its errors leave CLI11 as CLI11's own exception, so that it can name the flag.
template <class Value>
CLI::Option* add_parsed(CLI::App& app, const std::string& flag, Value& value, Value (*parse)(const std::string&),
                        const std::string& help) {
  return app.add_option_function<std::string>(
      flag,
      [flag, &value, parse](const std::string& text) {
        try {
          value = parse(text);
        } catch (const Error& error) {
          throw CLI::ValidationError(flag, error.what());
        }
      },
      help);
}

/// A whole number from `smallest` to `largest`; CLI11 by itself would take -1 for a huge unsigned one.
template <class Integer>
void add_count(CLI::App& app, const std::string& flag, Integer& value, std::pair<Integer, Integer> range,
               const std::string& help) {
  auto parse = [flag, &value, range](const std::string& text) {
    char* end = nullptr;
    errno = 0;
    const unsigned long long number = std::strtoull(text.c_str(), &end, 10);
    const bool is_number =
        !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) && *end == '\0' && errno == 0;
    if (!is_number || number < range.first || number > range.second)
      throw CLI::ValidationError(
          flag, fmt::format("expected a whole number from {} to {}, got '{}'", range.first, range.second, text));
    value = static_cast<Integer>(number);
  };
  app.add_option_function<std::string>(flag, parse, help)->option_text("N");
}

}  // namespace

int64_t parse_bytes(const std::string& text) {
  const auto [number, unit] = split_unit(text);
  static const std::vector<std::pair<std::string, double>> units = {
      {"", 1},     {"b", 1},      {"k", 0x1p10},   {"kib", 0x1p10}, {"kb", 1e3},   {"m", 0x1p20},   {"mib", 0x1p20},
      {"mb", 1e6}, {"g", 0x1p30}, {"gib", 0x1p30}, {"gb", 1e9},     {"t", 0x1p40}, {"tib", 0x1p40}, {"tb", 1e12}};
  const auto found =
      std::find_if(units.begin(), units.end(), [&unit = unit](const auto& one) { return one.first == unit; });
  // Not (number > 0) rather than number <= 0: what is no number at all is NaN.
  if (found == units.end() || !(number > 0) || number * found->second < 1 || number * found->second > 0x1p62)
    throw Error(ErrorKind::usage,
                fmt::format("expected a number of bytes such as 2000000000, 500M, 2G or 1.5GiB, got '{}'", text));
  return static_cast<int64_t>(number * found->second);
}

double parse_seconds(const std::string& text) {
  const auto [number, unit] = split_unit(text);
  static const std::vector<std::pair<std::string, double>> units = {{"", 1},     {"s", 1},    {"sec", 1},  {"m", 60},
                                                                    {"min", 60}, {"h", 3600}, {"d", 86400}};
  const auto found =
      std::find_if(units.begin(), units.end(), [&unit = unit](const auto& one) { return one.first == unit; });
  if (found == units.end() || !(number > 0))
    throw Error(ErrorKind::usage, fmt::format("expected a duration such as 90, 30s, 10m or 2h, got '{}'", text));
  return number * found->second;
}

CLI::Option* add_words(CLI::App& app, const std::string& flag, std::function<void(size_t)> set,
                       std::vector<std::string> words, size_t standard, const std::string& help) {
  auto choose = [flag, set, words](const std::string& text) {
    const auto found = std::find(words.begin(), words.end(), text);
    if (found == words.end()) {
      throw CLI::ValidationError(
          flag, fmt::format("expected one of {}, got '{}'{}", fmt::join(words, ", "), text, did_you_mean(text, words)));
    }
    set(static_cast<size_t>(found - words.begin()));
  };
  return app.add_option_function<std::string>(flag, choose, fmt::format("{} (default: {})", help, words[standard]))
      ->option_text(fmt::format("{}", fmt::join(words, "|")));
}

void add_common_flags(CLI::App& app, CommonFlags& flags, const std::vector<std::string>& meaningless) {
  const std::vector<const CLI::Option*> before = static_cast<const CLI::App&>(app).get_options();

  app.add_flag("--json", flags.json, "Print the result as one JSON object on stdout");
  add_count<uint64_t>(app, "--seed", flags.seed, {0, std::numeric_limits<uint64_t>::max()},
                      "Seed of every random stream (default: 0)");
  add_count<unsigned>(app, "--threads", flags.threads, {1, 4096},
                      "Threads (default: the CPUs that the process may use)");
  add_choice<FloatType>(app, "--dtype", flags.dtype, {{"float32", FloatType::float32}, {"float64", FloatType::float64}},
                        "Type of weights and data");
  add_choice<DeviceKind>(app, "--device", flags.device, {{"cpu", DeviceKind::cpu}, {"cuda", DeviceKind::cuda}},
                         "Where to compute");
  add_parsed(app, "--memory", flags.memory, parse_bytes,
             "Memory budget, e.g. 500M, 2G, 1.5GiB (default: three quarters of what is free)")
      ->option_text("BYTES");
  add_parsed(app, "--time-limit", flags.time_limit, parse_seconds,
             "Give up after this time: seconds, or 10m, 2h (default: none)")
      ->option_text("TIME");
  app.add_flag("--quiet", flags.quiet, "No progress and no messages on stderr");
  add_choice<ColorChoice>(
      app, "--color", flags.color,
      {{"auto", ColorChoice::automatic}, {"always", ColorChoice::always}, {"never", ColorChoice::never}},
      "Colours; auto: on a terminal, unless NO_COLOR is set");
  app.add_flag("--no-torchscript", flags.no_torchscript,
               "Refuse TorchScript files, also inside of models: loading one runs its maker's code");
  app.set_config("--config", "",
                 "Read flags from a TOML file, one 'flag = value' a line; the command line goes before it")
      ->option_text("FILE.toml")
      ->each([&flags](const std::string& path) { flags.config = path; });
  app.allow_config_extras(CLI::config_extras_mode::error);

  for (CLI::Option* option : app.get_options())
    if (std::find(before.begin(), before.end(), option) == before.end()) option->group(common_group);
  for (const std::string& flag : meaningless) app.get_option(flag)->group("");
  app.get_help_ptr()->group(common_group);
}

bool use_color(ColorChoice choice, int descriptor) {
  if (choice != ColorChoice::automatic) return choice == ColorChoice::always;
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* terminal = std::getenv("TERM");
  if (terminal != nullptr && std::string(terminal) == "dumb") return false;
  return isatty(descriptor) == 1;
}

}  // namespace ockham::app
