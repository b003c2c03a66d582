// Replays the corpus: seeds, inputs that fuzzing found interesting, and every input that once was a finding.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "tests/fuzz/readers.h"
#include "tests/support/temporary_directory.h"

namespace ockham::testing {
namespace {

namespace fs = std::filesystem;

fs::path corpus_of(const Reader& reader) {
  return fs::path(OCKHAM_SOURCE_DIR) / "tests" / "fuzz" / "corpus" / reader.name;
}

void replay(const Reader& reader) {
  SCOPED_TRACE(reader.name);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(corpus_of(reader))) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  EXPECT_GE(files.size(), 3U);
  reader.read("");
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.filename().string());
    const std::string bytes = read_bytes(file.string());
    EXPECT_NO_THROW(reader.read(bytes));
    // Cut short anywhere, a file is refused or read, but never more.
    for (const size_t part : {bytes.size() / 3, bytes.size() / 2, bytes.size() - std::min<size_t>(bytes.size(), 1)})
      EXPECT_NO_THROW(reader.read(bytes.substr(0, part)));
  }
}

TEST(FuzzCorpus, DataFilesAreReadOrRefused) {
  for (const Reader& reader : data_readers()) replay(reader);
}

TEST(FuzzCorpus, ModelsAndSettingsAreReadOrRefused) {
  ::testing::internal::CaptureStderr();  // what the tool says about wrong configuration files
  ::testing::internal::CaptureStdout();
  for (const Reader& reader : file_readers()) replay(reader);
  ::testing::internal::GetCapturedStdout();
  ::testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace ockham::testing
