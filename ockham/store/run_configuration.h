// What a run was made by: the resolved flags, and what identifies the data. Two runs of equal configurations have equal
// results.
#pragma once

#include <map>
#include <string>

namespace ockham {

/// Name of a flag (without dashes) or of another input, to its value. Leave out what may change between an interruption
/// and the continuation: threads are part of it, the verbosity is not.
using RunConfiguration = std::map<std::string, std::string>;

/// 16 hexadecimal digits, equal for equal configurations.
std::string fingerprint(const RunConfiguration& configuration);

/// "epochs was '100' and is now '200', lr was not given and is now '0.1'"; empty when they are equal. At most three
/// differences are spelt out.
std::string describe_differences(const RunConfiguration& before, const RunConfiguration& now);

}  // namespace ockham
