// The bytes of a text file, unpacked and checked.
#pragma once

#include <cstdint>
#include <string>

namespace ockham {

/// All bytes of a file, or of standard input for "-"; gzip is recognised by its first bytes and unpacked. Throws
/// Error(data) for what is missing, a directory, unreadable, truncated or damaged, or larger than the memory budget.
std::string read_source(const std::string& path);

/// Inflates a gzip file of one or more members.
std::string unpack_gzip(const std::string& path, const std::string& packed);

/// Removes byte-order marks and throws Error(data), with line and byte, unless the text is UTF-8 without NUL bytes.
/// The same in two parts, for a text that comes in pieces: its first bytes, then pieces that end at a line's end.
void check_beginning(const std::string& path, std::string& text);
void check_characters(const std::string& path, const std::string& text, int64_t first_line = 1);
void check_text(const std::string& path, std::string& text);

}  // namespace ockham
