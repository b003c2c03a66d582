// The memory budget: what a computation may allocate, decided before it starts.
#pragma once

#include <cstdint>
#include <string>

namespace ockham {

/// Bytes that this process may still use: the smallest of MemAvailable, the cgroup's limit and the address-space limit.
int64_t available_memory_bytes();

/// The default budget: three quarters of `available_memory_bytes`.
int64_t default_memory_budget();

/// Highest resident set size of this process so far, in bytes; `reset_peak_memory` starts the count again (Linux).
int64_t peak_memory_bytes();
void reset_peak_memory();
int64_t resident_memory_bytes();

/// Tells the C library to keep freed memory for the next use. By default glibc gives large blocks back at once, and a
/// loop that needs them again pays for every page anew, which can be half the time of a small fit. For programs; the
/// library never calls it.
void keep_freed_memory();

/// "1.5 GB", "20 MB": for messages.
std::string human_bytes(int64_t bytes);

}  // namespace ockham
