#include <ATen/ATen.h>
#include <sys/mman.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "app/subcommands.h"
#include "ockham/network/archive_check.h"
#include "ockham/predict/model_description.h"
#include "ockham/predict/trained_model.h"
#include "ockham/report/run_report.h"
#include "ockham/store/run_directory.h"
#include "ockham/store/safetensors.h"
#include "ockham/train/online_checkpoint.h"
#include "tests/fuzz/readers.h"
#include "tests/support/temporary_directory.h"

namespace ockham::testing {
namespace {

/// The parts between NUL bytes; the last of `count` has the rest.
std::vector<std::string> split_parts(const std::string& bytes, size_t count) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (parts.size() + 1 < count && begin <= bytes.size()) {
    const size_t end = std::min(bytes.find('\0', begin), bytes.size());
    parts.push_back(bytes.substr(begin, end - begin));
    begin = end + 1;
  }
  if (begin <= bytes.size()) parts.push_back(bytes.substr(begin));
  parts.resize(count);
  return parts;
}

std::string with_length(const std::string& header, const std::string& values) {
  std::string file(8, '\0');
  for (size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(uint64_t{header.size()} >> (8 * i));
  return file + header + values;
}

/// Bytes that begin with '{' are a header, NUL and the values: its length is put in front, which mutations would break.
std::string as_tensor_file(const std::string& bytes) {
  if (bytes.empty() || bytes[0] != '{') return bytes;
  const std::vector<std::string> parts = split_parts(bytes, 2);
  return with_length(parts[0], parts[1]);
}

void read_safetensors_bytes(const std::string& bytes) {
  const std::string content = as_tensor_file(bytes);
  const MemoryFile file(content);
  expect_refusal_or_success([&] {
    const TensorFile read = read_safetensors(file.path());
    size_t values = 0;
    for (const auto& [name, tensor] : read.tensors) values += static_cast<size_t>(tensor.nbytes());
    expect(values + 8 <= content.size(), "tensors hold more than their file");
  });
  expect_refusal_or_success([&] { read_checkpoint(file.path(), "0000000000000000"); });
}

/// Past the checksum, which anyone can compute: the values of a tensor file as those of a checkpoint.
void read_checkpoint_bytes(const std::string& bytes) {
  const MemoryFile file(as_tensor_file(bytes));
  expect_refusal_or_success([&] {
    const TensorFile read = read_safetensors(file.path());
    Checkpoint checkpoint;
    for (const auto& [key, tensor] : read.tensors) {
      const std::string name = key.substr(key.find('/') + 1);
      if (key[0] == 't') checkpoint.tensors[name] = tensor;
      if (key[0] == 'b')
        checkpoint.bytes[name] = std::string(static_cast<const char*>(tensor.data_ptr()), tensor.nbytes());
      if (key[0] == 'n' && tensor.numel() == 1) checkpoint.numbers[name] = tensor.to(at::kDouble).item<double>();
      if (key[0] == 'c' && tensor.numel() == 1 && tensor.scalar_type() == at::kLong)
        checkpoint.counts[name] = tensor.item<int64_t>();
    }
    const OnlineState state = online_state(checkpoint);
    expect(state.passes.size() <= bytes.size(), "more passes than bytes");
  });
}

/// Description, encoding and a line "name type shape" for each tensor, between NUL bytes; then values, which are
/// repeated as often as needed.
std::string as_model_file(const std::string& bytes) {
  const std::vector<std::string> parts = split_parts(bytes, 4);
  nlohmann::json header = {
      {"__metadata__",
       {{"format", "ockham trained model"}, {"format_version", "1"}, {"model", parts[0]}, {"encoding", parts[1]}}}};
  std::istringstream lines(parts[2]);
  int64_t filled = 0;
  constexpr int64_t most_values = 1 << 20;
  std::string name, type, shape_text;
  while (lines >> name >> type >> shape_text) {
    std::vector<int64_t> shape;
    int64_t size = type == "F32" ? 4 : type == "U8" || type == "BOOL" ? 1 : 8;
    std::istringstream extents(shape_text == "-" ? "" : shape_text);
    for (std::string extent; std::getline(extents, extent, ',');) {
      shape.push_back(std::strtol(extent.c_str(), nullptr, 10) & 0xffff);
      size *= shape.back();
      if (size > most_values) return {};
    }
    if (filled + size > most_values) return {};
    header[name] = {{"dtype", type}, {"shape", shape}, {"data_offsets", {filled, filled + size}}};
    filled += size;
  }
  std::string values;
  while (static_cast<int64_t>(values.size()) < filled) values += parts[3].empty() ? std::string(8, '\0') : parts[3];
  values.resize(static_cast<size_t>(filled));
  return with_length(header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), values);
}

/// Tensors of a file need not have its size in the memory of a model, but a small multiple of it.
void read_model_bytes(const std::string& bytes) {
  const MemoryFile file(!bytes.empty() && bytes[0] == '{' ? as_model_file(bytes) : bytes);
  try {
    expect_refusal_or_success([&] {
      const TrainedModel trained = load_trained_model(file.path());
      expect(trained.model.network.layout().total() > 0, "a model without weights");
    });
  } catch (const std::bad_alloc&) {
    report_finding("a small file asks for more memory than there is");
  }
}

size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

void read_format(const std::string& text) {
  static const TemporaryDirectory directory;
  write_bytes(directory.path("format.json"), text);
  const RunDirectory run = RunDirectory::open(directory.path(""));
  describe_differences(run.configuration(), {{"epochs", "1"}});
}

/// No text of a report may become part of the page: its scripts stay two.
void read_report(const std::string& text) {
  const std::string page = render_report(parse_report_data(text));
  static const std::string plain = render_report(RunReport());
  for (const char* word : {"<script", "</script", "<!--", "<iframe"})
    expect(count(page, word) == count(plain, word), "text of a report became part of the page");
}

/// The first byte says whose JSON it is.
void read_json_bytes(const std::string& bytes) {
  if (bytes.empty()) return;
  const std::string text = bytes.substr(1);
  expect_refusal_or_success([&] {
    if (bytes[0] == 'f') read_format(text);
    if (bytes[0] == 'r') read_report(text);
    if (bytes[0] == 'e') feature_names(parse_encoding(text));
    if (bytes[0] == 'd') format_description(parse_description(text));
  });
}

/// A settings file, as CLI11 reads its lines; and --config FILE of `fit`, by the path that the tool takes, which
/// answers with flags or with an exit code. Declaring all flags takes long, so only some go that way.
void read_toml_bytes(const std::string& bytes) {
  try {
    std::istringstream lines(bytes);
    CLI::ConfigTOML().from_config(lines);
  } catch (const CLI::Error&) {
  }
  if (bytes.size() % 8 != 0) return;
  const MemoryFile file(bytes);
  const char* arguments[] = {"ockham", "fit", "--config", file.path().c_str()};
  const app::CommandLine line = app::parse_command_line(4, arguments);
  expect(line.flags || line.exit_code == 2 || line.exit_code == 3 || line.exit_code == 0, "an unknown exit code");
}

/// All that is read of a TorchScript file before libtorch, which is not asked here: loading runs the file's code.
void read_torchscript_bytes(const std::string& bytes) {
  std::istringstream stream(bytes);
  expect_refusal_or_success([&] { check_archive(stream, "fuzz.pt"); });
}

}  // namespace

const std::vector<Reader>& file_readers() {
  static const std::vector<Reader> readers = {{"safetensors", read_safetensors_bytes},
                                              {"checkpoint", read_checkpoint_bytes},
                                              {"model", read_model_bytes},
                                              {"json", read_json_bytes},
                                              {"toml", read_toml_bytes},
                                              {"torchscript", read_torchscript_bytes}};
  return readers;
}

ReadBytes find_reader(const std::string& name) {
  for (const auto* readers : {&data_readers(), &file_readers()})
    for (const Reader& reader : *readers)
      if (name == reader.name) return reader.read;
  return nullptr;
}

MemoryFile::MemoryFile(const std::string& bytes) : descriptor_(::memfd_create("ockham-fuzz", MFD_CLOEXEC)) {
  path_ = "/proc/self/fd/" + std::to_string(descriptor_);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (count <= 0) report_finding("no memory for a file in memory");
    done += static_cast<size_t>(count);
  }
}

MemoryFile::~MemoryFile() { ::close(descriptor_); }

void report_finding(const std::string& what) { throw std::logic_error("FINDING: " + what); }

}  // namespace ockham::testing
