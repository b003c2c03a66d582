#include "ockham/store/safetensors_header.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "ockham/base/error.h"
#include "ockham/store/safetensors.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

using testing::expect_error;

/// A header with one tensor "w".
std::string entry(const std::string& type, const std::string& shape, const std::string& offsets) {
  return R"({"w":{"dtype":)" + type + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

void expect_refusal(const std::string& header, std::vector<std::string> mentioned, int64_t value_bytes = 8) {
  mentioned.push_back("file.st");
  SCOPED_TRACE(header.substr(0, 200));
  expect_error(ErrorKind::data, mentioned, [&] { parse_safetensors_header("file.st", header, value_bytes); });
}

TEST(SafetensorsHeader, ReadsWhatItFormats) {
  SafetensorsHeader header;
  header.metadata = {{"k", "v"}};
  header.entries = {{"b", c10::ScalarType::Double, {2, 1}, 0, 16}, {"a", c10::ScalarType::Byte, {}, 16, 17}};
  const std::string text = format_safetensors_header("file.st", header);
  EXPECT_EQ(text.size() % 8, 0U);
  const SafetensorsHeader back = parse_safetensors_header("file.st", text, 17);
  ASSERT_EQ(back.entries.size(), 2U);
  EXPECT_EQ(back.entries[0].name, "b");
  EXPECT_EQ(back.entries[0].shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(back.entries[1].type, c10::ScalarType::Byte);
  EXPECT_EQ(back.metadata, header.metadata);
}

TEST(SafetensorsHeader, RefusesDamagedJson) {
  for (const std::string text : {"{", "{\"w\"", "{\"w\":}", "{}x", "{\"\xff\":1}", "{'w': 1}", "{\"w\": NaN}"}) {
    expect_refusal(text, {"no JSON"});
  }
  expect_refusal(std::string("{\0}", 3), {"no JSON"});
  expect_refusal("{\"w\":" + std::string(1'000'000, '[') + "}", {"nested too deeply"});
  std::string nested = "{\"w\":";
  for (int i = 0; i < 100000; ++i) nested += "{\"w\":";
  expect_refusal(nested, {"nested too deeply"});
}

TEST(SafetensorsHeader, RefusesRepeatedNames) {
  const std::string tensor = R"({"dtype":"U8","shape":[8],"data_offsets":[0,8]})";
  expect_refusal("{\"w\":" + tensor + ",\"w\":" + tensor + "}", {"'w'", "twice"});
  expect_refusal(R"({"w":{"dtype":"U8","dtype":"I8","shape":[8],"data_offsets":[0,8]}})", {"'dtype'", "twice"});
  expect_refusal(R"({"__metadata__":{"a":"1","a":"2"}})", {"'a'", "twice"});
}

TEST(SafetensorsHeader, RefusesOtherShapesOfJson) {
  for (const std::string value : {"1", "null", "[]", "\"F32\"", "{}", R"({"dtype":"U8","shape":[8]})",
                                  R"({"shape":[8],"data_offsets":[0,8]})", R"({"dtype":"U8","data_offsets":[0,8]})"}) {
    expect_refusal("{\"w\":" + value + "}", {"'w'", "dtype, shape and data_offsets"});
  }
  expect_refusal(R"({"__metadata__":[]})", {"__metadata__"});
  expect_refusal(R"({"__metadata__":{"a":1}})", {"'a'", "no text"});
  expect_refusal(R"({"__metadata__":{"a":{"b":"c"}}})", {"'a'", "no text"});
}

TEST(SafetensorsHeader, RefusesTypesAndShapes) {
  for (const std::string type : {"\"F8_E4M3\"", "\"U64\"", "\"f64\"", "\"\"", "\"C64\""}) {
    expect_refusal(entry(type, "[1]", "[0,8]"), {"'w'", "has the type"});
  }
  expect_refusal(entry("7", "[1]", "[0,8]"), {"'w'", "no text"});
  for (const std::string shape : {"8", "\"8\"", "{}", "null"}) {
    expect_refusal(entry("\"U8\"", shape, "[0,8]"), {"'w'", "shape"});
  }
  for (const std::string shape : {"[-8]", "[8.0]", "[8e0]", "[\"8\"]", "[[8]]", "[null]", "[18446744073709551615]",
                                  "[99999999999999999999]", "[true]"}) {
    expect_refusal(entry("\"U8\"", shape, "[0,8]"), {"'w'", "no whole number"});
  }
  std::string many = "[1";
  for (int i = 0; i < 64; ++i) many += ",1";
  expect_refusal(entry("\"F64\"", many + "]", "[0,8]"), {"at most 64"});
}

TEST(SafetensorsHeader, RefusesSizesThatOverflow) {
  expect_refusal(entry("\"F64\"", "[4611686018427387904,4]", "[0,0]"), {"'w'", "impossible size"});
  expect_refusal(entry("\"F64\"", "[2305843009213693953]", "[0,8]"), {"'w'", "impossible size"});  // 8 modulo 2^64
  expect_refusal(entry("\"F64\"", "[0,4611686018427387904,4]", "[0,0]"), {"'w'", "impossible size"});
  expect_refusal(entry("\"U8\"", "[1099511627776]", "[0,1099511627776]"), {"'w'", "after the end of the file"});
}

TEST(SafetensorsHeader, RefusesOffsetsThatDoNotTileTheFile) {
  for (const std::string offsets :
       {"8", "[]", "[0]", "[0,8,16]", "[-1,7]", "[8,0]", "[0.0,8]", "[0,\"8\"]", "[0,18446744073709551615]"}) {
    expect_refusal(entry("\"U8\"", "[8]", offsets), {"'w'", "rising whole numbers"});
  }
  expect_refusal(entry("\"U8\"", "[7]", "[0,8]"), {"'w'", "needs 7 bytes", "give it 8"});
  expect_refusal(entry("\"F64\"", "[1]", "[0,4]"), {"'w'", "needs 8 bytes", "give it 4"});
  expect_refusal(entry("\"U8\"", "[8]", "[4,12]"), {"'w'", "4 bytes after the end of the file"});
  expect_refusal(entry("\"U8\"", "[4]", "[4,8]"), {"4 bytes before tensor 'w'"});
  expect_refusal(entry("\"U8\"", "[4]", "[0,4]"), {"4 bytes at its end"});
  expect_refusal("{}", {"8 bytes at its end"});
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"a":{"dtype":"U8","shape":[6],"data_offsets":)" + first +
           R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + second + "}}";
  };
  expect_refusal(two("[0,6]", "[4,8]"), {"'b'", "overlaps"});
  expect_refusal(two("[2,8]", "[0,4]"), {"'a'", "overlaps"});
}

TEST(SafetensorsHeader, ShowsNamesOnOneLine) {
  expect_refusal("{\"a\\nb\":1}", {"'a?b'"});
  expect_refusal("{\"" + std::string(5000, 'n') + "\":1}", {std::string(80, 'n') + "...'"});
}

// Every file with changed or missing bytes reads or is refused in a sentence; nothing else may come out.
TEST(SafetensorsHeader, SurvivesRandomDamage) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path("file.st");
  std::string header = R"({"__metadata__":{"k":"v"},"w":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
                       R"("m":{"dtype":"BOOL","shape":[8],"data_offsets":[16,24]}})";
  std::string whole(8, '\0');
  whole[0] = static_cast<char>(header.size());
  whole += header + std::string(24, '\1');
  std::mt19937 random(1);
  int read = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string bytes = whole;
    for (unsigned change = random() % 3; change < 3; ++change) {
      bytes[random() % bytes.size()] =
          random() % 2 == 0 ? static_cast<char>(random()) : "0123456789[]{},:\""[random() % 17];
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    std::filesystem::remove(path);  // rewriting in place makes some file systems wait for the disk
    testing::write_bytes(path, bytes);
    try {
      read_safetensors(path);
      ++read;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::data) << error.what();
    }
  }
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace ockham
