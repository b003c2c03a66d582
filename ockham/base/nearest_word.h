// Suggestions for misspelt words. Knows no libtorch: the front end of the tool uses it too.
#pragma once

#include <string>
#include <vector>

namespace ockham {

/// The nearest of `known` when it is near enough to be a slip of the keyboard, else empty.
std::string nearest_word(const std::string& word, const std::vector<std::string>& known);

/// "; did you mean 'kron'?" for the end of a sentence, or nothing when no known word is near.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

}  // namespace ockham
