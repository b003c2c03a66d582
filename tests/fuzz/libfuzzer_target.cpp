// One libFuzzer target; OCKHAM_FUZZ_READER names its reader.
#include <string>

#include "tests/fuzz/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ockham::testing::ReadBytes read = ockham::testing::find_reader(OCKHAM_FUZZ_READER);
  read(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
