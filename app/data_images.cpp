#include "app/data_images.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "app/say.h"
#include "app/scratch_directory.h"
#include "ockham/base/atomic_file.h"
#include "ockham/base/error.h"

namespace ockham::app {
namespace {

namespace fs = std::filesystem;
constexpr const char* class_names_file = "batches.meta.txt";

std::vector<std::string> file_names(const ImageFiles& images) {
  std::vector<std::string> names;
  for (const ImageFile& file : images.files) names.push_back(file.name);
  if (!images.class_names.empty()) names.push_back(class_names_file);
  return names;
}

/// Refuses before the download, which takes time.
fs::path place_for(const DataSet& data_set, const DataFlags& flags) {
  fs::path directory = fs::path(flags.directory.empty() ? data_set.name : flags.directory).lexically_normal();
  if (!directory.has_filename()) directory = directory.parent_path();  // "place/" is "place"
  std::error_code ignored;
  if (fs::exists(directory, ignored) && !fs::is_directory(directory, ignored))
    throw Error(ErrorKind::data, fmt::format("{}: is a file, but a directory is expected", directory.string()));
  for (const std::string& name : file_names(*data_set.images())) {
    if (flags.overwrite || !fs::exists(fs::symlink_status(directory / name, ignored))) continue;
    throw Error(ErrorKind::data,
                fmt::format("{}: exists already; --overwrite replaces it, --to chooses another directory",
                            (directory / name).string()));
  }
  return directory;
}

void move_to(const fs::path& from, const fs::path& to) {
  std::error_code trouble;
  fs::rename(from, to, trouble);
  if (trouble)
    throw Error(ErrorKind::failure, fmt::format("{}: cannot be written: {}", to.string(), trouble.message()));
}

void write_files(const fs::path& directory, const std::vector<NamedBytes>& files) {
  const bool fresh = !fs::exists(directory);
  const fs::path parent = fresh ? directory.parent_path() : directory;
  if (!parent.empty()) make_directories(parent.string());
  // On the same disk, so that what lies in it moves at once.
  const ScratchDirectory stage(parent.empty() ? "." : parent);
  for (const NamedBytes& file : files) write_atomically((stage.path() / file.name).string(), file.bytes);
  const auto held = stage.hold();
  if (fresh) {
    fs::permissions(stage.path(),
                    fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec,
                    fs::perm_options::add);
    return move_to(stage.path(), directory);
  }
  for (const NamedBytes& file : files) move_to(stage.path() / file.name, directory / file.name);
}

}  // namespace

nlohmann::ordered_json describe_as_json(const DataSet& one) {
  nlohmann::ordered_json described = {{"name", one.name},
                                      {"description", one.description},
                                      {"kind", one.images() == nullptr ? "table" : "images"},
                                      {"rows", one.rows},
                                      {"inputs", one.inputs},
                                      {"target", one.target},
                                      {"task", one.classes == 0 ? "regression" : "classification"},
                                      {"classes", one.classes},
                                      {"source", describe_source(one)}};
  if (one.images() != nullptr) described["test_rows"] = one.images()->test_rows;
  return described;
}

int run_image_data(const DataSet& data_set, const DataFlags& flags) {
  if (flags.rows > 0) {
    throw Error(ErrorKind::usage,
                fmt::format("--rows is for toy tables; {} has {} images, of which 'ockham fit' can take fewer",
                            data_set.name, data_set.rows));
  }
  const ImageFiles& images = *data_set.images();
  const fs::path directory = place_for(data_set, flags);
  if (!flags.common.quiet && ::isatty(STDERR_FILENO) == 1)
    say(fmt::format("looking for {} ...\n", describe_source(data_set)));
  std::vector<NamedBytes> files = obtain_images(data_set.name, images);
  if (!images.class_names.empty()) {
    std::string lines;
    for (const std::string& name : images.class_names) lines += name + "\n";
    files.push_back({class_names_file, lines + "\n"});
  }
  write_files(directory, files);

  if (flags.common.json) {
    nlohmann::ordered_json report = {{"schema", 1}, {"path", directory.string()}};
    report.update(describe_as_json(data_set));
    report["files"] = file_names(images);
    fmt::print("{}\n", report.dump(2));
    return 0;
  }
  fmt::print("{}: {} images for training, {} for testing, {} classes\n", directory.string(), data_set.rows,
             images.test_rows, data_set.classes);
  fmt::print("next: ockham fit {}\n", directory.string());
  return 0;
}

}  // namespace ockham::app
