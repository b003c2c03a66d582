#include "ockham/data/npy.h"

#include <ATen/ATen.h>

#include <string>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_directory.h"

namespace ockham {
namespace {

using testing::expect_error;
using testing::TemporaryDirectory;
using testing::write_bytes;

/// A version 1 (or 2) file made by hand.
std::string npy(const std::string& dictionary, const std::string& values, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  bytes += static_cast<char>(dictionary.size() & 0xff);
  bytes += static_cast<char>(dictionary.size() >> 8);
  if (version > 1) bytes += std::string(2, '\0');
  return bytes + dictionary + values;
}

class Npy : public ::testing::Test {
 protected:
  at::Tensor read(const std::string& bytes) {
    write_bytes(path_, bytes);
    return read_npy(path_);
  }
  TemporaryDirectory directory_;
  std::string path_ = directory_.path("array.npy");
};

TEST_F(Npy, RoundTripsEveryTypeThatIsWritten) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kLong}) {
    for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{{}, {4}, {3, 2}, {2, 3, 4}, {0, 5}}) {
      const at::Tensor array = at::randn(shape, at::kDouble).mul(100).to(type);
      write_npy(path_, array);
      const at::Tensor back = read_npy(path_);
      EXPECT_EQ(back.scalar_type(), type);
      EXPECT_EQ(back.sizes().vec(), shape);
      EXPECT_TRUE(back.equal(array));
    }
  }
}

TEST_F(Npy, WritesNonContiguousArraysAndNothingElseIntoTheDirectory) {
  const at::Tensor array = at::arange(6, at::kDouble).view({2, 3}).t();
  write_npy(path_, array);
  EXPECT_TRUE(read_npy(path_).equal(array));
  const auto entries = std::filesystem::directory_iterator(std::filesystem::path(path_).parent_path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST_F(Npy, ReadsFortranOrderBigEndianAndVersionTwo) {
  const std::string values("\0\1\0\2\0\3\0\4\0\5\0\6", 12);  // 1 to 6, big endian 16 bits
  const at::Tensor plain = read(npy("{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }\n", values));
  EXPECT_TRUE(plain.equal(at::arange(1, 7, at::kShort).view({2, 3})));
  const at::Tensor turned = read(npy("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n", values, 2));
  EXPECT_TRUE(turned.equal(at::arange(1, 7, at::kShort).view({3, 2}).t()));
}

TEST_F(Npy, ReadsSmallTypes) {
  const std::string bytes("\1\0\1", 3);
  EXPECT_EQ(read(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }\n", bytes)).scalar_type(), at::kBool);
  EXPECT_EQ(read(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }\n", bytes)).scalar_type(), at::kByte);
  EXPECT_EQ(read(npy("{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }\n", bytes)).scalar_type(), at::kChar);
  const at::Tensor half =
      read(npy("{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }\n", std::string("\0\x3c", 2)));
  EXPECT_EQ(half.item<double>(), 1);
}

TEST_F(Npy, RefusesWhatIsNoNpyFile) {
  expect_error(ErrorKind::data, {"missing.npy", "no such file"}, [&] { read_npy(directory_.path("missing.npy")); });
  expect_error(ErrorKind::data, {"not a file"}, [&] { read_npy(directory_.path("")); });
  expect_error(ErrorKind::data, {path_, "numpy.save"}, [&] { read("1,2,3\n4,5,6\n7,8,9\n"); });
  expect_error(ErrorKind::data, {"numpy.save"}, [&] { read(""); });
  expect_error(ErrorKind::data, {"version 9"}, [&] { read(npy("{}", "", 9)); });
}

TEST_F(Npy, RefusesDamagedFiles) {
  const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }\n";
  expect_error(ErrorKind::data, {"truncated", "24 bytes", "20"}, [&] { read(npy(header, std::string(20, '\0'))); });
  expect_error(ErrorKind::data, {"8 bytes after"}, [&] { read(npy(header, std::string(32, '\0'))); });
  expect_error(ErrorKind::data, {"truncated inside its header"}, [&] { read(npy(header, "").substr(0, 30)); });
  expect_error(ErrorKind::data, {"header cannot be read"}, [&] { read(npy("{'descr': '<f8'}", "")); });
  expect_error(ErrorKind::data, {"header cannot be read"},
               [&] { read(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-3,), }", "")); });
  // Promises that would overflow or exhaust the memory must fail before anything is allocated.
  expect_error(ErrorKind::data, {"impossible size"}, [&] {
    read(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296, 8), }", ""));
  });
  expect_error(ErrorKind::data, {"truncated"},
               [&] { read(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }", "")); });
}

TEST_F(Npy, RefusesWhatLibtorchWouldNotSurvive) {
  const auto header = [](const std::string& type, const std::string& shape) {
    return "{'descr': '" + type + "', 'fortran_order': True, 'shape': (" + shape + "), }";
  };
  // No values, but strides that overflow.
  expect_error(ErrorKind::data, {"impossible size"},
               [&] { read(npy(header("<f8", "0, 4611686018427387904, 4611686018427387904"), "")); });
  std::string ones;
  for (int k = 0; k < 100; ++k) ones += "1, ";
  expect_error(ErrorKind::data, {"100 dimensions"}, [&] { read(npy(header("|u1", ones), "x")); });
  expect_error(ErrorKind::data, {"neither 0 nor 1"}, [&] { read(npy(header("|b1", "2,"), "\x01\x02")); });
  expect_error(ErrorKind::data, {"header cannot be read"},
               [&] { read(npy("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (0,), }", "")); });
}

TEST_F(Npy, RefusesTypesThatAreNoNumbers) {
  expect_error(ErrorKind::data, {"'<U5'", "astype"},
               [&] { read(npy("{'descr': '<U5', 'fortran_order': False, 'shape': (1,), }", std::string(20, '\0'))); });
  expect_error(ErrorKind::data, {"'<c16'"},
               [&] { read(npy("{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", std::string(16, '\0'))); });
  expect_error(ErrorKind::data, {"structured"}, [&] {
    read(npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", std::string(8, '\0')));
  });
}

TEST_F(Npy, SaysWhenItCannotWrite) {
  expect_error(ErrorKind::failure, {"cannot be written", "directory does not exist"},
               [&] { write_npy(directory_.path("no/such/array.npy"), at::zeros({2})); });
  expect_error(ErrorKind::data, {"float32"}, [&] { write_npy(path_, at::zeros({2}, at::kByte)); });
}

}  // namespace
}  // namespace ockham
