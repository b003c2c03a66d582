// Private to data/: text that a person reads as a number or a date, and a program must not guess at.
#pragma once

#include <string>
#include <string_view>

namespace ockham {

/// What keeps a text from being a number, and how to write it instead, to follow "'1,5' "; empty when it is no number
/// to a reader either. Knows decimal commas, separated thousands, percent and currency signs, units after a blank,
/// apostrophes and typographic minus signs.
std::string explain_near_number(std::string_view field);

/// A calendar date (2024-01-31, 31.1.2024, 1/31/24), a time (23:59, 23:59:59.5), or both.
bool is_date(std::string_view field);

}  // namespace ockham
