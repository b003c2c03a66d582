#include "ockham/data/text_blocks.h"

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

namespace ockham {
namespace {

constexpr size_t kRawBytes = size_t{1} << 18;
constexpr std::string_view kGzip = "\x1f\x8b";

bool is_packed(std::string_view bytes) { return bytes.substr(0, kGzip.size()) == kGzip; }

}  // namespace

struct TextBlocks::State {
  std::string path;
  int descriptor = -1;
  int64_t size = 0;  // 0: unknown
  int64_t done = 0;
  std::string raw;      // bytes of the file
  size_t raw_used = 0;  // of them, those handed on
  bool raw_ended = false, ended = false;
  std::optional<z_stream> unpacker;

  ~State() {
    if (unpacker) inflateEnd(&*unpacker);
    if (descriptor > STDIN_FILENO) ::close(descriptor);
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::data, fmt::format("{}: {}", path == "-" ? "standard input" : path, why));
  }

  std::string_view waiting() const { return std::string_view(raw).substr(raw_used); }

  /// More of the file, when fewer than `least` bytes wait and there are more.
  void fill(size_t least = 1) {
    while (!raw_ended && raw.size() - raw_used < least) {
      raw.erase(0, raw_used);
      raw_used = 0;
      const size_t kept = raw.size();
      raw.resize(kept + kRawBytes);
      ssize_t count;
      do {
        count = ::read(descriptor, raw.data() + kept, kRawBytes);
      } while (count < 0 && errno == EINTR);
      raw.resize(kept + static_cast<size_t>(std::max<ssize_t>(count, 0)));
      if (count < 0) refuse(fmt::format("cannot be read ({})", std::strerror(errno)));
      raw_ended = count == 0;
      done += count;
    }
  }

  /// At most `bytes` of text to `to`; how many.
  size_t copy(char* to, size_t bytes) {
    fill();
    const size_t count = std::min(bytes, raw.size() - raw_used);
    std::memcpy(to, raw.data() + raw_used, count);
    raw_used += count;
    ended = count == 0;
    return count;
  }

  void expect_zeros() {
    for (fill(); raw_used < raw.size(); fill()) {
      if (waiting().find_first_not_of('\0') != std::string_view::npos)
        refuse("is a damaged gzip file: something else lies behind a part of it; get or compress it again");
      raw_used = raw.size();
    }
  }

  size_t unpack(char* to, size_t bytes) {
    fill();
    if (raw_used == raw.size()) refuse("is a gzip file that ends too early; get or compress it again");
    unpacker->next_in = reinterpret_cast<Bytef*>(raw.data() + raw_used);
    unpacker->avail_in = static_cast<uInt>(raw.size() - raw_used);
    unpacker->next_out = reinterpret_cast<Bytef*>(to);
    unpacker->avail_out = static_cast<uInt>(bytes);
    const int status = inflate(&*unpacker, Z_NO_FLUSH);
    raw_used = raw.size() - unpacker->avail_in;
    if (status == Z_STREAM_END) {
      // Members may follow one another, and zeros the last one, as for gzip itself.
      fill(kGzip.size());
      ended = !is_packed(waiting());
      if (ended) expect_zeros();
      if (!ended) inflateReset(&*unpacker);
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      refuse("is a damaged gzip file; get or compress it again");
    }
    return bytes - unpacker->avail_out;
  }
};

TextBlocks::TextBlocks(const std::string& path) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.path = path;
  state.descriptor = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (state.descriptor < 0) {
    if (errno == ENOENT || errno == ENOTDIR) state.refuse("no such file");
    state.refuse(fmt::format("cannot be opened ({}); check its permissions", std::strerror(errno)));
  }
  struct stat status {};
  if (::fstat(state.descriptor, &status) != 0) state.refuse("cannot be read; check the disk");
  if (S_ISDIR(status.st_mode)) state.refuse("is a directory; a CSV file is expected");
  if (S_ISREG(status.st_mode)) state.size = status.st_size;
  state.fill(kGzip.size());
  if (is_packed(state.waiting())) {
    state.unpacker.emplace();
    if (inflateInit2(&*state.unpacker, 15 + 16) != Z_OK) {
      state.unpacker.reset();
      state.refuse("zlib cannot be started");
    }
  } else if (path.size() > 3 && path.compare(path.size() - 3, 3, ".gz") == 0) {
    state.refuse("is not a gzip file, though its name ends in .gz; compress it again with gzip");
  }
}

TextBlocks::~TextBlocks() = default;

bool TextBlocks::read(std::string& text, size_t bytes) {
  const size_t before = text.size();
  text.resize(before + bytes);
  size_t filled = 0;
  while (filled < bytes && !state_->ended) {
    char* to = text.data() + before + filled;
    filled += state_->unpacker ? state_->unpack(to, bytes - filled) : state_->copy(to, bytes - filled);
  }
  text.resize(before + filled);
  return filled > 0;
}

std::optional<double> TextBlocks::share() const {
  if (state_->size <= 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(state_->done) / static_cast<double>(state_->size));
}

}  // namespace ockham
