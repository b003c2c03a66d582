#include "ockham/data/csv_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "ockham/base/error.h"
#include "ockham/base/memory.h"
#include "ockham/base/printable.h"

namespace ockham {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::data, fmt::format("{}: {}", path == "-" ? "standard input" : path, why));
}

void check_size(const std::string& path, size_t bytes, int64_t budget) {
  if (static_cast<int64_t>(bytes) > budget) {
    refuse(path, fmt::format("holds more than {}, the memory budget; take fewer rows", human_bytes(budget)));
  }
}

/// Room for more than the budget would be touched before `check_size` could refuse it.
size_t within(int64_t budget, size_t bytes) { return std::min(bytes, static_cast<size_t>(budget) + 1); }

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : owned_(path != "-") {
    descriptor_ = owned_ ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (descriptor_ >= 0) return;
    if (errno == ENOENT || errno == ENOTDIR) refuse(path, "no such file");
    refuse(path, fmt::format("cannot be opened ({}); check its permissions", std::strerror(errno)));
  }
  ~OpenFile() {
    if (owned_) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  bool owned_;
  int descriptor_;
};

/// What a gzip file of one or more members holds, piece by piece.
class GzipBytes {
 public:
  GzipBytes(const std::string& path, const std::string& packed) : path_(path), packed_(packed) {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) refuse(path, "zlib cannot be started");
  }
  ~GzipBytes() { inflateEnd(&stream_); }
  GzipBytes(const GzipBytes&) = delete;
  GzipBytes& operator=(const GzipBytes&) = delete;

  /// Fewer than asked for only at the end.
  size_t read(char* to, size_t bytes) {
    constexpr size_t most = 1u << 30;  // zlib counts in 32 bits
    size_t filled = 0;
    while (filled < bytes && !ended_) {
      const size_t given = std::min(most, packed_.size() - consumed_);
      const size_t room = std::min(most, bytes - filled);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed_.data() + consumed_));
      stream_.avail_in = static_cast<uInt>(given);
      stream_.next_out = reinterpret_cast<Bytef*>(to + filled);
      stream_.avail_out = static_cast<uInt>(room);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      consumed_ += given - stream_.avail_in;
      filled += room - stream_.avail_out;
      if (status == Z_STREAM_END) {
        // Members may follow one another, and zeros the last one, as for gzip itself.
        ended_ = packed_.find_first_not_of('\0', consumed_) == std::string::npos;
        if (!ended_ && packed_.compare(consumed_, 2, "\x1f\x8b", 2) != 0)
          refuse(path_, "is a damaged gzip file: something else lies behind a part of it; get or compress it again");
        if (!ended_) inflateReset(&stream_);
      } else if (status == Z_BUF_ERROR || (status == Z_OK && consumed_ == packed_.size() && stream_.avail_out > 0)) {
        refuse(path_, "is a gzip file that ends too early; get or compress it again");
      } else if (status != Z_OK) {
        refuse(path_, "is a damaged gzip file; get or compress it again");
      }
    }
    return filled;
  }

 private:
  const std::string& path_;
  const std::string& packed_;
  z_stream stream_{};
  size_t consumed_ = 0;
  bool ended_ = false;
};

/// Where a position is, for the beginning of a sentence. The text begins on `first_line`.
std::string place_of(const std::string& text, size_t position, int64_t first_line) {
  const auto line = std::count(text.begin(), text.begin() + position, '\n') + first_line;
  const size_t before = position == 0 ? std::string::npos : text.rfind('\n', position - 1);
  const size_t byte = before == std::string::npos ? position + 1 : position - before;
  return fmt::format("line {}, byte {}", line, byte);
}

bool starts_with(const std::string& text, const char* start, size_t length) {
  return text.compare(0, length, start, length) == 0;
}

/// Files that are often given in the place of a CSV, by their first bytes.
void refuse_other_formats(const std::string& path, const std::string& text) {
  using namespace std::string_view_literals;
  struct Format {
    std::string_view start, name, advice;
  };
  static constexpr Format formats[] = {
      {"PK\x03\x04"sv, "a spreadsheet or a zip archive", "export the sheet as CSV"},
      {"\xd0\xcf\x11\xe0"sv, "an Excel file", "export the sheet as CSV"},
      {"PAR1"sv, "a Parquet file", "export it as CSV"},
      {"\x93NUMPY"sv, "a NumPy file", "give it as --inputs, and the targets as --targets"},
      {"BZh"sv, "packed with bzip2", "unpack it, or pack it with gzip"},
      {"\xfd\x37zXZ"sv, "packed with xz", "unpack it, or pack it with gzip"},
      {"<!"sv, "a web page", "get the file itself"},
      {"<html"sv, "a web page", "get the file itself"},
      {"<?xml"sv, "an XML file", "export it as CSV"},
      {"{\""sv, "a JSON file", "export it as CSV"},
      {"[{"sv, "a JSON file", "export it as CSV"},
      {"@relation"sv, "an ARFF file", "remove the lines that begin with @ and write the names of the columns instead"},
      {"@RELATION"sv, "an ARFF file", "remove the lines that begin with @ and write the names of the columns instead"}};
  for (const Format& format : formats) {
    if (starts_with(text, format.start.data(), format.start.size()))
      refuse(path, fmt::format("is {}, not a CSV; {}", format.name, format.advice));
  }
}

}  // namespace

std::string read_source(const std::string& path) {
  const OpenFile file(path);
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0) refuse(path, "cannot be read; check the disk");
  if (S_ISDIR(status.st_mode)) refuse(path, "is a directory; a CSV file is expected");
  const int64_t budget = default_memory_budget();
  check_size(path, static_cast<size_t>(status.st_size), budget);

  std::string bytes;
  size_t filled = 0;
  while (true) {
    // One byte more than the file has: its end then shows without another allocation.
    const size_t room = filled == 0 ? static_cast<size_t>(status.st_size) + 1 : filled / 2;
    if (bytes.size() == filled) bytes.resize(within(budget, filled + std::max<size_t>(room, 1 << 16)));
    const ssize_t count = ::read(file.descriptor(), bytes.data() + filled, bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(path, fmt::format("cannot be read ({})", std::strerror(errno)));
    if (count == 0) break;
    filled += static_cast<size_t>(count);
    check_size(path, filled, budget);
  }
  bytes.resize(filled);
  if (starts_with(bytes, "\x1f\x8b", 2)) return unpack_gzip(path, bytes);
  if (path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0) {
    refuse(path, "is not a gzip file, though its name ends in .gz; compress it again with gzip");
  }
  return bytes;
}

std::string unpack_gzip(const std::string& path, const std::string& packed) {
  const int64_t budget = default_memory_budget();
  // Counted first: a buffer that grows is there twice for a moment, and a small file may unpack to anything.
  size_t size = 0;
  {
    GzipBytes bytes(path, packed);
    std::string piece(1 << 16, '\0');
    while (const size_t count = bytes.read(piece.data(), piece.size())) check_size(path, size += count, budget);
  }
  std::string text(size, '\0');
  GzipBytes(path, packed).read(text.data(), size);
  return text;
}

void check_beginning(const std::string& path, std::string& text) {
  // All of them, and before anything else: a text that was checked once must not look different the next time.
  size_t marks = 0;
  while (text.compare(marks, 3, "\xef\xbb\xbf") == 0) marks += 3;
  text.erase(0, marks);
  if (starts_with(text, "\xff\xfe", 2) || starts_with(text, "\xfe\xff", 2)) {
    refuse(path, "is text in UTF-16, but UTF-8 is expected; convert it with iconv -f UTF-16 -t UTF-8");
  }
  refuse_other_formats(path, text);
}

void check_characters(const std::string& path, const std::string& text, int64_t first_line) {
  if (const void* zero = text.empty() ? nullptr : std::memchr(text.data(), 0, text.size())) {
    refuse(path, fmt::format("{}: there is a NUL byte; this is no text file, or a damaged one",
                             place_of(text, static_cast<const char*>(zero) - text.data(), first_line)));
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  size_t i = 0;
  while (i < text.size()) {
    uint64_t eight = 0;
    if (i + 8 <= text.size()) {
      std::memcpy(&eight, bytes + i, 8);
      if ((eight & 0x8080808080808080ULL) == 0) {
        i += 8;
        continue;
      }
    }
    const size_t length = utf8_length(std::string_view(text).substr(i));
    if (length == 0) {
      refuse(path, fmt::format("{}: the byte 0x{:02x} is not UTF-8; the file is probably in Latin-1 (Windows-1252), "
                               "convert it with iconv -f WINDOWS-1252 -t UTF-8",
                               place_of(text, i, first_line), bytes[i]));
    }
    i += length;
  }
}

void check_text(const std::string& path, std::string& text) {
  check_beginning(path, text);
  check_characters(path, text);
}

}  // namespace ockham
