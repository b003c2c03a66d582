// What is done with any bytes that claim to be a file of each kind: shared by the libFuzzer targets and by the replay
// of the corpus in the ordinary tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace ockham::testing {

/// Reads the bytes. Returns when they were read or refused as they should be: by Error(data) with a sentence of one
/// line. Everything else ends the process or leaves as another exception, and is a finding.
using ReadBytes = void (*)(const std::string& bytes);

struct Reader {
  const char* name;
  ReadBytes read;
};

/// csv, npy, idx, cifar, png, jpeg.
const std::vector<Reader>& data_readers();
/// safetensors, checkpoint, model, json, toml, torchscript.
const std::vector<Reader>& file_readers();
/// All of them by name; null for another name.
ReadBytes find_reader(const std::string& name);

/// A file that lives in memory only, for readers that take a path.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

/// By an exception that nothing catches: libFuzzer takes it for a crash, GoogleTest for a failure.
[[noreturn]] void report_finding(const std::string& what);
inline void expect(bool good, const char* what) {
  if (!good) report_finding(what);
}

/// Runs the action; lets an Error pass that is a proper refusal.
template <class Action>
void expect_refusal_or_success(Action&& action);

}  // namespace ockham::testing

#include "ockham/base/error.h"

template <class Action>
void ockham::testing::expect_refusal_or_success(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string sentence = error.what();
    static const bool aloud = std::getenv("OCKHAM_FUZZ_ALOUD") != nullptr;  // to look at a single file
    if (aloud) std::fprintf(stderr, "refused: %s\n", sentence.c_str());
    if (error.kind() != ErrorKind::data) report_finding("not refused as bad data: " + sentence);
    if (sentence.empty() || sentence.find('\n') != std::string::npos)
      report_finding("the refusal is not one line: " + sentence);
  }
}
