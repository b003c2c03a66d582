#include "ockham/network/archive_check.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <vector>

#include "ockham/base/error.h"

namespace ockham {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr uint64_t piece = 1 << 20;
constexpr uint64_t local_header_size = 30, entry_header_size = 46, end_record_size = 22;
constexpr uint64_t end64_record_size = 56, end64_locator_size = 20, longest_comment = 0xFFFF;
constexpr uint32_t local_signature = 0x04034b50, entry_signature = 0x02014b50, end_signature = 0x06054b50;
constexpr uint32_t end64_signature = 0x06064b50, end64_locator_signature = 0x07064b50;
constexpr uint32_t in_zip64 = 0xFFFFFFFF;  // a 32-bit field whose value stands in a 64-bit one elsewhere

uint64_t little_endian(const Bytes& bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = width; i-- > 0;) value = value << 8 | bytes.at(at + i);
  return value;
}
uint16_t read16(const Bytes& bytes, size_t at) { return static_cast<uint16_t>(little_endian(bytes, at, 2)); }
uint32_t read32(const Bytes& bytes, size_t at) { return static_cast<uint32_t>(little_endian(bytes, at, 4)); }
uint64_t read64(const Bytes& bytes, size_t at) { return little_endian(bytes, at, 8); }

/// For messages: a damaged name may hold anything.
std::string printable(std::string name) {
  for (char& c : name)
    if (c < ' ' || c > '~') c = '?';
  return name.substr(0, 200);
}

struct Directory {
  uint64_t offset = 0, size = 0, entries = 0;
};

struct Entry {
  std::string name;
  uint16_t method = 0;
  uint32_t checksum = 0;
  uint64_t stored_size = 0, size = 0, header_offset = 0;
  uint64_t length_in_directory = 0;
  bool is_folder = false;
};

class Archive {
 public:
  Archive(std::istream& file, const std::string& path) : path_(path), file_(file) {
    if (!file_.seekg(0, std::ios::end))
      throw Error(ErrorKind::data, fmt::format("{}: cannot be read; check its permissions", path_));
    size_ = static_cast<uint64_t>(file_.tellg());
  }

  void check() {
    const Directory directory = find_directory();
    uint64_t at = directory.offset, all = 0;
    for (uint64_t i = 0; i < directory.entries; ++i) {
      const Entry entry = read_entry(at);
      at += entry.length_in_directory;
      if (at - directory.offset > directory.size) refuse("its directory is damaged");
      // Entries that overlap could make a small file take forever.
      if (entry.stored_size > size_ - all) refuse("its directory is damaged");
      all += entry.stored_size;
      check_entry(entry);
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::data, fmt::format("{}: {}; save or copy the TorchScript file again", path_, why));
  }
  [[noreturn]] void refuse(const Entry& entry, const std::string& why) const {
    refuse(fmt::format("its entry '{}' is damaged ({})", printable(entry.name), why));
  }

  bool holds(uint64_t offset, uint64_t count) const { return offset <= size_ && count <= size_ - offset; }

  Bytes read(uint64_t offset, uint64_t count) {
    if (!holds(offset, count)) refuse("it is cut short, or its directory is damaged");
    Bytes bytes(count);
    file_.seekg(static_cast<std::streamoff>(offset));
    if (!file_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count)))
      refuse("it cannot be read to its end");
    return bytes;
  }
  std::string read_text(uint64_t offset, uint64_t count) {
    const Bytes bytes = read(offset, count);
    return std::string(bytes.begin(), bytes.end());
  }

  /// Where the end record starts: the last place in the file that looks like one, as libtorch takes it.
  uint64_t find_end_record() {
    if (size_ >= end_record_size) {
      const uint64_t length = std::min(size_, end_record_size + longest_comment);
      const Bytes tail = read(size_ - length, length);
      for (uint64_t at = length - end_record_size + 1; at-- > 0;)
        if (read32(tail, at) == end_signature) return size_ - length + at;
    }
    throw Error(ErrorKind::data,
                fmt::format("{}: is not a TorchScript file, or is cut short (it has no ZIP directory); save it with "
                            "torch.jit.script(model).save(...), or copy it again",
                            path_));
  }

  Directory find_directory() {
    const uint64_t end = find_end_record();
    const Bytes record = read(end, end_record_size);
    Directory directory{read32(record, 16), read32(record, 12), read16(record, 10)};
    if (end >= end64_locator_size) {
      const Bytes locator = read(end - end64_locator_size, end64_locator_size);
      if (read32(locator, 0) == end64_locator_signature) {
        const Bytes record64 = read(read64(locator, 8), end64_record_size);
        if (read32(record64, 0) != end64_signature) refuse("its directory is damaged");
        const Directory wide{read64(record64, 48), read64(record64, 40), read64(record64, 32)};
        const auto differs = [](uint64_t narrow, uint64_t other, uint64_t full) {
          return narrow != full && narrow != other;
        };
        if (differs(directory.offset, wide.offset, in_zip64) || differs(directory.size, wide.size, in_zip64) ||
            differs(directory.entries, wide.entries, 0xFFFF))
          refuse("its directory is damaged");
        directory = wide;
      }
    }
    if (!holds(directory.offset, directory.size) || directory.entries > directory.size / entry_header_size)
      refuse("it is cut short, or its directory is damaged");
    return directory;
  }

  Entry read_entry(uint64_t at) {
    const Bytes header = read(at, entry_header_size);
    if (read32(header, 0) != entry_signature) refuse("its directory is damaged");
    const uint64_t name_length = read16(header, 28), extra_length = read16(header, 30);
    Entry entry;
    entry.name = read_text(at + entry_header_size, name_length);
    entry.method = read16(header, 10);
    entry.checksum = read32(header, 16);
    entry.length_in_directory = entry_header_size + name_length + extra_length + read16(header, 32);
    entry.stored_size = read32(header, 20);
    entry.size = read32(header, 24);
    entry.header_offset = read32(header, 42);
    constexpr uint32_t folder_attribute = 0x10;
    entry.is_folder = (read32(header, 38) & folder_attribute) != 0 || (name_length > 0 && entry.name.back() == '/');
    read_wide_fields(entry, read(at + entry_header_size + name_length, extra_length));
    return entry;
  }

  /// Sizes and offset from the ZIP64 field among the extra ones: only those that did not fit, in this order.
  void read_wide_fields(Entry& entry, const Bytes& extra) const {
    std::vector<uint64_t*> wide;
    for (uint64_t* field : {&entry.size, &entry.stored_size, &entry.header_offset})
      if (*field == in_zip64) wide.push_back(field);
    if (wide.empty()) return;
    constexpr uint16_t zip64_field = 1;
    for (size_t at = 0; at + 4 <= extra.size();) {
      const size_t length = read16(extra, at + 2);
      if (length > extra.size() - at - 4) break;
      if (read16(extra, at) == zip64_field && length >= 8 * wide.size()) {
        for (size_t i = 0; i < wide.size(); ++i) *wide[i] = read64(extra, at + 4 + 8 * i);
        return;
      }
      at += 4 + length;
    }
    refuse(entry, "its size is missing");
  }

  void check_entry(const Entry& entry) {
    const Bytes header = read(entry.header_offset, local_header_size);
    const uint64_t name_length = read16(header, 26);
    if (read32(header, 0) != local_signature || name_length != entry.name.size() ||
        read_text(entry.header_offset + local_header_size, name_length) != entry.name)
      refuse(entry, "it is not where the directory says");
    const uint64_t start = entry.header_offset + local_header_size + name_length + read16(header, 28);
    if (!holds(start, entry.stored_size)) refuse(entry, "it goes beyond the end of the file");
    // libtorch reads nothing of a folder, and leaves the memory of the tensor as it finds it.
    if (entry.is_folder && entry.size > 0) refuse(entry, "it is marked as a folder");
    constexpr uint16_t stored = 0, deflated = 8;
    if (entry.method != stored && entry.method != deflated) refuse(entry, "unknown compression");
    if (entry.method == stored && entry.stored_size != entry.size) refuse(entry, "its two sizes differ");
    const uint32_t checksum =
        entry.method == stored ? checksum_of_stored(entry, start) : checksum_of_deflated(entry, start);
    if (checksum != entry.checksum) refuse(entry, "its checksum is wrong");
  }

  uint32_t checksum_of_stored(const Entry& entry, uint64_t start) {
    uLong checksum = crc32(0, nullptr, 0);
    for (uint64_t done = 0; done < entry.stored_size;) {
      const Bytes bytes = read(start + done, std::min(piece, entry.stored_size - done));
      checksum = crc32(checksum, bytes.data(), static_cast<uInt>(bytes.size()));
      done += bytes.size();
    }
    return static_cast<uint32_t>(checksum);
  }

  uint32_t checksum_of_deflated(const Entry& entry, uint64_t start) {
    struct Inflater : z_stream {
      Inflater() : z_stream() { ready = inflateInit2(this, -MAX_WBITS) == Z_OK; }  // negative: no zlib header
      ~Inflater() { inflateEnd(this); }
      bool ready;
    } inflater;
    if (!inflater.ready) throw Error(ErrorKind::failure, fmt::format("{}: no memory to inflate it", path_));
    Bytes in;
    unpacked_.resize(piece);
    uLong checksum = crc32(0, nullptr, 0);
    uint64_t read_so_far = 0, written = 0;
    for (int state = Z_OK; state != Z_STREAM_END;) {
      if (inflater.avail_in == 0 && read_so_far < entry.stored_size) {
        in = read(start + read_so_far, std::min(piece, entry.stored_size - read_so_far));
        read_so_far += in.size();
        inflater.next_in = in.data();
        inflater.avail_in = static_cast<uInt>(in.size());
      }
      inflater.next_out = unpacked_.data();
      inflater.avail_out = static_cast<uInt>(unpacked_.size());
      state = inflate(&inflater, Z_NO_FLUSH);
      // Without input left, Z_BUF_ERROR says that the stream does not end.
      if (state != Z_OK && state != Z_STREAM_END) refuse(entry, "it cannot be inflated");
      const uint64_t count = unpacked_.size() - inflater.avail_out;
      written += count;
      if (written > entry.size) refuse(entry, "it is longer than the directory says");
      checksum = crc32(checksum, unpacked_.data(), static_cast<uInt>(count));
    }
    if (written != entry.size || inflater.avail_in > 0 || read_so_far < entry.stored_size)
      refuse(entry, "its size is wrong");
    return static_cast<uint32_t>(checksum);
  }

  std::string path_;
  std::istream& file_;
  uint64_t size_ = 0;
  Bytes unpacked_;  // made once: an archive may have many small entries
};

}  // namespace

void check_archive(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Archive(file, path).check();
}

void check_archive(std::istream& bytes, const std::string& name) { Archive(bytes, name).check(); }

}  // namespace ockham
