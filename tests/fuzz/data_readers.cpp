#include <ATen/ATen.h>

#include <cstring>
#include <optional>

#include "ockham/data/cifar.h"
#include "ockham/data/csv.h"
#include "ockham/data/csv_source.h"
#include "ockham/data/csv_stream.h"
#include "ockham/data/idx.h"
#include "ockham/data/jpeg.h"
#include "ockham/data/npy.h"
#include "ockham/data/png.h"
#include "ockham/data/table_encoding.h"
#include "tests/fuzz/readers.h"

namespace ockham::testing {
namespace {

/// Every byte, so that the sanitizer sees memory that is not there.
void touch(const at::Tensor& values) {
  const at::Tensor plain = values.contiguous();
  volatile unsigned sum = 0;
  const auto* bytes = static_cast<const unsigned char*>(plain.data_ptr());
  for (size_t i = 0; i < plain.nbytes(); ++i) sum = sum + bytes[i];
}

void expect_same_fields(const CsvTable& one, const CsvTable& other) {
  expect(one.names == other.names && one.rows() == other.rows(), "a written table reads back with another shape");
  for (int64_t row = 0; row < one.rows(); ++row)
    for (int64_t column = 0; column < one.columns(); ++column)
      expect(one.field(row, column) == other.field(row, column), "a written table reads back with other fields");
}

/// A bad table for learning is refused; a good one gives tensors of its size.
void encode(const CsvTable& table) {
  const TableEncoding encoding = learn_encoding(table, {});
  const at::Tensor inputs = encode_inputs(encoding, table), targets = encode_targets(encoding, table);
  expect(inputs.size(0) == table.rows() && targets.size(0) == table.rows(), "rows were lost in the encoding");
  touch(inputs);
  touch(targets);
  const std::string text = format_encoding(encoding);
  expect(format_encoding(parse_encoding(text)) == text, "an encoding reads back as another one");
}

/// The stream takes and refuses what the whole file is taken and refused for.
void expect_same_stream(const std::string& path, const CsvTable* whole) {
  int64_t row = 0;
  try {
    CsvStream stream(path);
    while (const std::optional<CsvTable> part = stream.next(2)) {
      for (int64_t k = 0; k < part->rows(); ++k, ++row) {
        if (whole == nullptr) continue;
        expect(row < whole->rows() && part->names == whole->names, "a stream has another shape than its table");
        for (int64_t column = 0; column < part->columns(); ++column)
          expect(part->field(k, column) == whole->field(row, column), "a stream has other fields than its table");
        expect(part->line(k) == whole->line(row), "a stream counts lines in another way");
      }
    }
  } catch (const Error& error) {
    if (whole != nullptr)
      report_finding(std::string("a stream refuses what the whole table is read from: ") + error.what());
    throw;
  }
  if (whole == nullptr) report_finding("a stream takes what is refused as a whole");
  expect(row == whole->rows(), "a stream ends early");
}

void read_csv_bytes(const std::string& bytes) {
  const MemoryFile file(bytes);
  const bool also_streamed = bytes.size() % 4 == 0;  // its large blocks take most of the time
  expect_refusal_or_success([&] {
    std::optional<CsvTable> read;
    try {
      read = read_csv(file.path());
    } catch (const Error&) {
      if (also_streamed) expect_refusal_or_success([&] { expect_same_stream(file.path(), nullptr); });
      throw;
    }
    const CsvTable& table = *read;
    if (also_streamed) expect_same_stream(file.path(), &table);
    for (int64_t row = 0; row < table.rows(); ++row) table.line(row);
    CsvOptions options;
    options.separator = ',';
    options.header = HeaderRow::present;
    expect_same_fields(table, parse_csv(format_csv(table), "again", options));
    expect_refusal_or_success([&] { encode(table); });
  });
}

void read_npy_bytes(const std::string& bytes) {
  const MemoryFile file(bytes);
  expect_refusal_or_success([&] {
    const at::Tensor array = read_npy(file.path());
    expect(static_cast<size_t>(array.nbytes()) <= bytes.size(), "an array is larger than its file");
    touch(array);
  });
}

/// Images and labels in one: the labels follow the first line end after the word "labels".
void read_idx_bytes(const std::string& bytes) {
  const std::string mark = "labels\n";
  const size_t found = bytes.find(mark);
  const MemoryFile images(bytes.substr(0, found));
  const MemoryFile labels(found == std::string::npos ? std::string("\0\0\x08\x01\0\0\0\x02\0\x01", 10)
                                                     : bytes.substr(found + mark.size()));
  expect_refusal_or_success([&] {
    const ImageSet set = read_idx(images.path(), labels.path());
    expect(set.images.size(0) == set.labels.size(0), "images and labels differ in number");
    touch(set.images);
    touch(set.labels);
  });
}

/// CIFAR-10 or CIFAR-100 records, or a list of class names, as the first byte says.
void read_cifar_bytes(const std::string& bytes) {
  if (bytes.empty()) return;
  const MemoryFile file(bytes.substr(1));
  expect_refusal_or_success([&] {
    if (bytes[0] == 'n') {
      const std::vector<std::string> names = read_class_names(file.path(), 10);
      expect(names.size() >= 2 && names.size() <= 256, "an impossible number of classes");
      return;
    }
    const CifarRecord record = bytes[0] == 'c' ? cifar100_record : cifar10_record;
    const std::vector<std::string> classes = read_class_names("", bytes[0] == 'c' ? 100 : 10);
    const ImageSet set = read_cifar({file.path(), file.path()}, record, classes);
    expect((set.labels < static_cast<int64_t>(classes.size())).all().item<bool>(), "a label without a class");
    const size_t pixels = 3 * 32 * 32;
    for (int64_t row = 0; row < set.images.size(0) / 2; ++row) {
      const char* after = bytes.data() + 1 + (row + 1) * record.size();
      expect(set.labels[row].item<int64_t>() == static_cast<unsigned char>(after[-1 - static_cast<int64_t>(pixels)]),
             "a label is not that of the file");
      expect(std::memcmp(set.images[row].data_ptr(), after - pixels, pixels) == 0, "pixels are not those of the file");
    }
    touch(set.images);
  });
}

void expect_image(const at::Tensor& image) {
  expect(image.dim() == 3 && (image.size(0) == 1 || image.size(0) == 3), "an image of another shape");
  touch(image);
}

void read_png_bytes(const std::string& bytes) {
  expect_refusal_or_success([&] { expect_image(decode_png("fuzz.png", bytes)); });
}

void read_jpeg_bytes(const std::string& bytes) {
  expect_refusal_or_success([&] { expect_image(decode_jpeg("fuzz.jpg", bytes)); });
}

}  // namespace

const std::vector<Reader>& data_readers() {
  static const std::vector<Reader> readers = {{"csv", read_csv_bytes}, {"npy", read_npy_bytes},
                                              {"idx", read_idx_bytes}, {"cifar", read_cifar_bytes},
                                              {"png", read_png_bytes}, {"jpeg", read_jpeg_bytes}};
  return readers;
}

}  // namespace ockham::testing
