// Private to data/: where the records of a CSV text end, when it comes in pieces.
#pragma once

#include <string_view>

namespace ockham {

/// Sees records as `tokenise` does; what that refuses may end anywhere, but still where a character does.
class CsvRecords {
 public:
  CsvRecords(char separator, size_t longest_field) : separator_(separator), longest_field_(longest_field) {}

  /// Looks further in `text`, which begins where it did at the last call and may have grown. Returns the end of the
  /// next record, after its line end, or npos when it is not there yet. `whole`: the text will not grow any more.
  size_t next_end(std::string_view text, bool whole);
  /// The first `bytes` were taken away.
  void forget(size_t bytes) { position_ -= bytes; }

 private:
  bool is_blank(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }
  bool pass_quoted(std::string_view text, bool whole);
  bool pass_line_end(std::string_view text, bool whole);

  char separator_;
  size_t longest_field_;
  size_t position_ = 0;
  size_t quoted_bytes_ = 0;
  bool in_quotes_ = false, at_field_start_ = true, has_content_ = false;
};

}  // namespace ockham
