#include "ockham/store/safetensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

using nlohmann::json;
using testing::expect_error;
using testing::read_bytes;
using testing::write_bytes;

/// A file made by hand.
std::string safetensors(const std::string& header, const std::string& values) {
  std::string bytes(8, '\0');
  for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return bytes + header + values;
}

class Safetensors : public ::testing::Test {
 protected:
  TensorFile read(const std::string& bytes) {
    write_bytes(path_, bytes);
    return read_safetensors(path_);
  }
  void expect_refusal(const std::string& bytes, std::vector<std::string> mentioned) {
    mentioned.push_back(path_);
    expect_error(ErrorKind::data, mentioned, [&] { read(bytes); });
  }
  testing::TemporaryDirectory directory_;
  std::string path_ = directory_.path("model.safetensors");
};

TEST_F(Safetensors, RoundTripsEveryTypeAndShape) {
  TensorFile content;
  for (const at::ScalarType type : {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf,
                                    at::kBFloat16, at::kFloat, at::kDouble}) {
    for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{{}, {5}, {3, 2}, {2, 0, 4}}) {
      content.tensors[std::string(c10::toString(type)) + std::to_string(shape.size())] =
          at::randn(shape, at::kDouble).abs().mul(10).to(type);
    }
  }
  content.metadata = {{"format", "pt"}, {"naïve \"quotes\"\n", ""}};
  write_safetensors(path_, content);
  const TensorFile back = read_safetensors(path_);
  EXPECT_EQ(back.metadata, content.metadata);
  ASSERT_EQ(back.tensors.size(), content.tensors.size());
  for (const auto& [name, tensor] : content.tensors) {
    EXPECT_EQ(back.tensors.at(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(back.tensors.at(name).equal(tensor)) << name;
  }
}

TEST_F(Safetensors, KeepsEveryBitOfViewsAndOddNumbers) {
  const at::Tensor odd = at::tensor({0.0, -0.0, 1.0 / 3, INFINITY, 5e-324}, at::kDouble);
  const at::Tensor turned = at::arange(6, at::kFloat).view({2, 3}).t().requires_grad_();
  write_safetensors(path_, {{{"odd", odd}, {"turned", turned}}, {}});
  const TensorFile back = read_safetensors(path_);
  EXPECT_EQ(std::memcmp(back.tensors.at("odd").data_ptr(), odd.data_ptr(), odd.nbytes()), 0);
  EXPECT_TRUE(back.tensors.at("turned").equal(turned));
  EXPECT_TRUE(back.metadata.empty());
}

// The layout that other readers rely on, read here without the library.
TEST_F(Safetensors, LaysTheFileOutAsTheFormatSays) {
  write_safetensors(path_,
                    {{{"a", at::ones({3}, at::kByte)}, {"b", at::full({2, 1}, 1.5, at::kDouble)}}, {{"k", "v"}}});
  const std::string bytes = read_bytes(path_);
  uint64_t length = 0;
  for (size_t i = 0; i < 8; ++i) length |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  EXPECT_EQ(length % 8, 0U);
  const json header = json::parse(bytes.substr(8, length));
  EXPECT_EQ(header, json::parse(R"({"__metadata__": {"k": "v"},
      "b": {"dtype": "F64", "shape": [2, 1], "data_offsets": [0, 16]},
      "a": {"dtype": "U8", "shape": [3], "data_offsets": [16, 19]}})"));
  const std::string one_and_a_half("\0\0\0\0\0\0\xf8\x3f", 8);
  EXPECT_EQ(bytes.substr(8 + length), one_and_a_half + one_and_a_half + "\1\1\1");
}

TEST_F(Safetensors, WritesTheSameBytesForTheSameValues) {
  const TensorFile content = {{{"x", at::arange(4)}, {"a", at::ones({2})}}, {{"one", "1"}, {"another", "2"}}};
  write_safetensors(path_, content);
  const std::string first = read_bytes(path_);
  write_safetensors(path_, content);
  EXPECT_EQ(read_bytes(path_), first);
}

TEST_F(Safetensors, ReadsFilesOfOthers) {
  const TensorFile plain =
      read(safetensors(R"({"w":{"dtype":"I16","shape":[2],"data_offsets":[0,4]}}   )", std::string("\1\0\2\0", 4)));
  EXPECT_TRUE(plain.tensors.at("w").equal(at::tensor({1, 2}, at::kShort)));
  EXPECT_TRUE(read(safetensors("{}", "")).tensors.empty());
  const TensorFile swapped = read(safetensors(
      R"({"z":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},"y":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
      "\7\b"));
  EXPECT_EQ(swapped.tensors.at("y").item<int>(), 7);
  EXPECT_EQ(swapped.tensors.at("z").item<int>(), 8);
}

TEST_F(Safetensors, RefusesWhatIsNoSuchFile) {
  expect_error(ErrorKind::data, {"no such file"}, [&] { read_safetensors(directory_.path("missing")); });
  expect_error(ErrorKind::data, {"is not a file"}, [&] { read_safetensors(directory_.path("")); });
  expect_refusal("", {"shorter than 8 bytes"});
  expect_refusal("1234567", {"shorter than 8 bytes"});
  expect_refusal("x,y\n1,2\n3,4\n", {"longer than the file"});
  expect_refusal(std::string(8, '\xff'), {"longer than the file"});
  expect_refusal(std::string(8, '\0'), {"does not start with '{'"});
  expect_refusal(safetensors("[1, 2]", ""), {"does not start with '{'"});
  expect_refusal(safetensors(" {}", ""), {"does not start with '{'"});
  // A header beyond the limit is refused before it is read: the file is sparse and takes no room.
  write_bytes(path_, std::string("\1\xe1\xf5\5\0\0\0\0", 8));
  std::filesystem::resize_file(path_, 100'000'100);
  expect_error(ErrorKind::data, {"100 MB"}, [&] { read_safetensors(path_); });
}

TEST_F(Safetensors, IsReadWholeWhileAnotherTakesItsPlace) {
  TensorFile small, large;
  small.tensors["x"] = at::zeros({2});
  large.tensors["x"] = at::zeros({2000});
  const std::string path = directory_.path("replaced.safetensors");
  write_safetensors(path, small);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i < 500; ++i) write_safetensors(path, i % 2 == 0 ? large : small);
    done = true;
  });
  int64_t refused = 0;
  while (!done) {
    try {
      read_safetensors(path);
    } catch (const Error&) {
      ++refused;
    }
  }
  writer.join();
  EXPECT_EQ(refused, 0);
}

TEST_F(Safetensors, SaysWhatItCannotWrite) {
  expect_error(ErrorKind::failure, {"'c'", "type"}, [&] {
    write_safetensors(path_, {{{"c", at::zeros({1}, at::kComplexDouble)}}, {}});
  });
  expect_error(ErrorKind::failure, {"__metadata__"}, [&] {
    write_safetensors(path_, {{{"__metadata__", at::zeros({1})}}, {}});
  });
  expect_error(ErrorKind::failure, {"UTF-8"}, [&] { write_safetensors(path_, {{{"\xff", at::zeros({1})}}, {}}); });
  expect_error(ErrorKind::failure, {"'u'", "undefined"}, [&] { write_safetensors(path_, {{{"u", {}}}, {}}); });
  expect_error(ErrorKind::failure, {"does not exist"}, [&] { write_safetensors(directory_.path("no/x"), {}); });
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace ockham
