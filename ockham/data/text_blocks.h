// Private to data/: the bytes of a file that may be larger than the memory, block by block.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace ockham {

/// A file, or standard input ("-"); gzip is recognised by its first bytes and unpacked on the way. Throws what
/// `read_source` throws, but no file is too large.
class TextBlocks {
 public:
  explicit TextBlocks(const std::string& path);
  ~TextBlocks();
  TextBlocks(const TextBlocks&) = delete;
  TextBlocks& operator=(const TextBlocks&) = delete;

  /// Appends so many bytes, fewer only at the end of the text. False when there were none left.
  bool read(std::string& text, size_t bytes);
  /// The share of the file that has been read; absent when its size is not known.
  std::optional<double> share() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ockham
