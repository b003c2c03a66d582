#include "ockham/data/csv_records.h"

namespace ockham {

/// False when it takes more text to go on.
bool CsvRecords::pass_quoted(std::string_view text, bool whole) {
  ++quoted_bytes_;
  if (text[position_] != '"') {
    ++position_;
    return true;
  }
  const bool at_end = position_ + 1 == text.size();
  if (at_end && !whole) return false;
  const bool doubled = !at_end && text[position_ + 1] == '"';
  in_quotes_ = doubled;
  position_ += doubled ? 2 : 1;
  return true;
}

bool CsvRecords::pass_line_end(std::string_view text, bool whole) {
  const bool at_end = position_ + 1 == text.size();
  if (text[position_] == '\r' && at_end && !whole) return false;
  position_ += text[position_] == '\r' && !at_end && text[position_ + 1] == '\n' ? 2 : 1;
  at_field_start_ = true;
  return true;
}

size_t CsvRecords::next_end(std::string_view text, bool whole) {
  while (position_ < text.size()) {
    const char c = text[position_];
    if (in_quotes_) {
      // A quote that is never closed would gather the whole file.
      const bool is_ascii = static_cast<unsigned char>(c) < 0x80;
      if (quoted_bytes_ > longest_field_ + 1 && is_ascii) return ++position_;
      if (!pass_quoted(text, whole)) return std::string_view::npos;
    } else if (c == '\n' || c == '\r') {
      if (!pass_line_end(text, whole)) return std::string_view::npos;
      if (!has_content_) continue;  // an empty line
      has_content_ = false;
      return position_;
    } else if (is_blank(c)) {
      if (separator_ == ' ') at_field_start_ = true;
      ++position_;
    } else {
      has_content_ = true;
      in_quotes_ = c == '"' && at_field_start_;
      if (in_quotes_) quoted_bytes_ = 0;
      at_field_start_ = c == separator_;
      ++position_;
    }
  }
  if (!whole || !has_content_) return std::string_view::npos;
  has_content_ = false;
  return position_;
}

}  // namespace ockham
