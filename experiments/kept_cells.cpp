#include "experiments/kept_cells.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"

namespace ockham::paper {
namespace {

namespace fs = std::filesystem;

std::string file_name(const std::string& cell) {
  std::string name;
  for (const char letter : cell) name += letter == '/' ? std::string("__") : std::string(1, letter);
  return name;
}

}  // namespace

KeptCells::KeptCells(const std::string& directory) : directory_(directory) {
  make_directories(directory_ + "/cells");
  make_directories(directory_ + "/working");
  for (const char* part : {"", "/cells"}) remove_partial_files(directory_ + part);
}

std::string KeptCells::path_of(const std::string& name) const {
  return fmt::format("{}/cells/{}.json", directory_, file_name(name));
}

std::string KeptCells::working_path(const std::string& name) const {
  return fmt::format("{}/working/{}", directory_, file_name(name));
}

std::optional<KeptCell> KeptCells::read(const std::string& name) const {
  const std::string path = path_of(name);
  if (!fs::exists(path)) return std::nullopt;
  const Json json = Json::parse(read_file(path), nullptr, false);
  if (!json.is_object() || !json.contains("settings") || !(json.contains("result") || json.contains("failure")))
    return std::nullopt;
  KeptCell cell;
  cell.settings = json.at("settings");
  cell.result = json.value("result", Json());
  cell.failure = json.value("failure", std::string());
  cell.final = json.value("final", true);
  cell.seconds = json.value("seconds", 0.0);
  cell.version = json.value("ockham", std::string());
  return cell;
}

void KeptCells::write(const std::string& name, const KeptCell& cell) const {
  Json json = {{"cell", name}, {"settings", cell.settings}, {"seconds", cell.seconds}, {"ockham", cell.version}};
  if (cell.failure.empty()) {
    json["result"] = cell.result;
  } else {
    json["failure"] = cell.failure;
    json["final"] = cell.final;
  }
  write_atomically(path_of(name), json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string KeptCells::prepare_working_directory(const std::string& name, const Json& settings) const {
  const std::string path = working_path(name), note = path + "/settings.json";
  if (fs::exists(note) && Json::parse(read_file(note), nullptr, false) == settings) return path;
  remove_working_directory(name);
  make_directories(path);
  write_atomically(note, settings.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  return path;
}

void KeptCells::remove_working_directory(const std::string& name) const {
  std::error_code ignored;  // a directory that stays does no harm
  fs::remove_all(working_path(name), ignored);
}

void KeptCells::clear_away(const std::string& name) const {
  if (!fs::exists(working_path(name)) && !fs::exists(working_path(name) + ".lock")) return;
  const CellLock claim(directory_, name);
  if (claim.taken()) remove_working_directory(name);
}

CellLock::CellLock(const std::string& directory, const std::string& name)
    : path_(fmt::format("{}/working/{}.lock", directory, file_name(name))) {
  file_ = open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  if (file_ < 0)
    throw Error(ErrorKind::failure, fmt::format("{}: cannot be written: {}", path_, failure_reason(errno)));
  taken_ = flock(file_, LOCK_EX | LOCK_NB) == 0;
}

CellLock::~CellLock() {
  // Removed while it is held: whoever opened it before and locks it now works beside a new file, but finds the kept
  // result of the cell, which is written before.
  if (taken_) unlink(path_.c_str());
  close(file_);
}

}  // namespace ockham::paper
