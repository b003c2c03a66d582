#include "app/subcommands.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "app/fit_resume_flags.h"
#include "app/help.h"
#include "ockham/base/error.h"
#include "ockham/base/nearest_word.h"

namespace ockham::app {
namespace {

struct Subcommand {
  std::string name;
  /// Puts the flags that the subcommand has, at their defaults, into `flags` and declares them.
  std::function<void(CLI::App&, Flags& flags)> declare;
};

template <class Kind>
Subcommand subcommand(const char* name, void (*declare)(CLI::App&, Kind&)) {
  return {name, [declare](CLI::App& app, Flags& flags) { declare(app, flags.emplace<Kind>()); }};
}

/// The table: a new subcommand is a line here, a kind in Flags and a function in the engine.
const std::vector<Subcommand>& subcommands() {
  static const std::vector<Subcommand> table = {
      subcommand("fit", declare_fit),           subcommand("predict", declare_predict),
      subcommand("export", declare_export),     subcommand("report", declare_report),
      subcommand("evidence", declare_evidence), subcommand("data", declare_data),
      subcommand("paper", declare_paper),       subcommand("doctor", declare_doctor),
  };
  return table;
}

int exit_usage() { return exit_code(ErrorKind::usage); }

CommandLine complain(const std::string& sentence, int code) { return {std::nullopt, code, sentence}; }

void print_overview() {
  std::vector<CommandSummary> commands;
  for (const Subcommand& one : subcommands()) {
    CLI::App app;
    Flags flags;
    one.declare(app, flags);
    const std::string examples = app.get_footer();
    commands.push_back({one.name, app.get_description(), examples.substr(0, examples.find('\n'))});
  }
  std::fputs(overview(commands).c_str(), stdout);
}

std::string after(const std::string& text, const std::string& mark) {
  const size_t found = text.find(mark);
  return found == std::string::npos ? text : text.substr(found + mark.size());
}

std::vector<std::string> long_flags(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  return flags;
}

/// What CLI11 says about a wrong command line, as one sentence that names the flag, the mistake and a way out.
std::string explain(const CLI::App& app, const std::string& command, const CLI::ParseError& error) {
  const std::string more = fmt::format("see 'ockham {} --help'", command);
  auto suggest = [&](const std::string& flag) {
    const std::string nearest = nearest_word(flag, long_flags(app));
    return nearest.empty() ? more : fmt::format("did you mean {}?", nearest);
  };
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  const std::string subject = message.substr(0, message.find(':'));

  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    std::string argument = app.remaining().empty() ? std::string() : app.remaining().front();
    if (argument.rfind('-', 0) != 0) return fmt::format("{} takes no argument '{}': {}", command, argument, more);
    argument = argument.substr(0, argument.find('='));
    return fmt::format("{} has no flag {}: {}", command, argument, suggest(argument));
  }
  if (dynamic_cast<const CLI::ConfigError*>(&error) != nullptr) {
    std::string key = after(after(message, "parse "), "configurable: ");
    const size_t section = key.rfind(".++");  // CLI11's name for the beginning of [section]
    if (section != std::string::npos) {
      return fmt::format("the configuration file has a section [{}]: write 'flag = value' lines without sections",
                         key.substr(0, section));
    }
    return fmt::format("the configuration file sets '{}', which {} does not have: {}", key, command,
                       suggest("--" + key));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && message.find("received") != std::string::npos)
    return fmt::format("{} is given more than once: {}", subject, more);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return fmt::format("{} needs a value: {}", subject, more);
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    const std::string excluded = after(message, " excludes ");
    return fmt::format("{} and {} exclude each other; give one of them", message.substr(0, message.find(' ')),
                       excluded);
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    return fmt::format("{} is missing: {}", subject.substr(0, subject.find(' ')), more);
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    const std::string setting = after(message, "Could not convert: ");
    const size_t equals = setting.find(" = ");
    if (equals != std::string::npos)
      return fmt::format("{}: cannot read '{}': {}", setting.substr(0, equals), setting.substr(equals + 3), more);
  }
  return message;
}

CommandLine parse_subcommand(const Subcommand& chosen, const std::vector<std::string>& arguments) {
  CLI::App app;
  app.name("ockham " + chosen.name);
  app.formatter(make_formatter());
  Flags flags;
  chosen.declare(app, flags);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them from the back
    if (const auto* fit = std::get_if<FitFlags>(&flags); fit != nullptr && fit->resume)
      flags = resume_flags(*fit, app, arguments);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);  // main looks whether it was written
    return {};
  } catch (const CLI::FileError& error) {
    return complain(fmt::format("--config: {}", error.what()), exit_code(ErrorKind::data));
  } catch (const CLI::ParseError& error) {
    return complain(explain(app, chosen.name, error), exit_usage());
  } catch (const Error& error) {
    return complain(error.what(), exit_code(error.kind()));
  }
  return {flags, 0, {}};
}

}  // namespace

const CommonFlags& common_flags(const Flags& flags) {
  return std::visit([](const auto& kind) -> const CommonFlags& { return kind.common; }, flags);
}

const RankFlags* rank_flags(const Flags& flags) {
  if (const auto* fit = std::get_if<FitFlags>(&flags)) return &fit->ranks;
  if (const auto* evidence = std::get_if<EvidenceFlags>(&flags)) return &evidence->ranks;
  return nullptr;
}

CommandLine parse_command_line(int argc, const char* const* argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string first = arguments.empty() ? "--help" : arguments.front();
  if (first == "--version" || first == "-V") {
    fmt::print("ockham {}\n", OCKHAM_VERSION);
    return {};
  }
  if (first == "--help" || first == "-h" || first == "help") {
    if (arguments.size() < 2) {
      print_overview();
      return {};
    }
    arguments = {arguments[1], "--help"};  // ockham help evidence
  }

  std::vector<std::string> names;
  for (const Subcommand& one : subcommands()) {
    if (one.name == arguments.front()) return parse_subcommand(one, {arguments.begin() + 1, arguments.end()});
    names.push_back(one.name);
  }
  if (first.rfind('-', 0) == 0)
    return complain(
        fmt::format("{} comes after the subcommand, one of {}: see 'ockham --help'", first, fmt::join(names, ", ")),
        exit_usage());
  const std::string nearest = nearest_word(arguments.front(), names);
  return complain(
      fmt::format("there is no subcommand '{}': {}", arguments.front(),
                  nearest.empty() ? fmt::format("it is one of {}; see 'ockham --help'", fmt::join(names, ", "))
                                  : fmt::format("did you mean '{}'?", nearest)),
      exit_usage());
}

}  // namespace ockham::app
