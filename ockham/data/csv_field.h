// What a field of a table is: a number, a missing value, or text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ockham {

/// Empty, NA, N/A, #N/A, <NA>, NaN, null or ?, in any case.
bool is_missing(std::string_view field);

/// The whole field as a decimal number ("-1.5e3", "+2", "inf"); a number beyond float64 is infinite. Nothing for text,
/// NaN and hexadecimal.
std::optional<double> parse_number(std::string_view field);

/// A field for a message: in quotes, cut after 40 bytes, without control characters.
std::string quote_field(std::string_view field);
/// A column's name as one word of a shell command, in quotes where it needs them.
std::string shell_word(const std::string& name);

}  // namespace ockham
