#include "ockham/data/csv_stream.h"

#include <fmt/format.h>

#include <utility>

#include "ockham/base/error.h"
#include "ockham/base/memory.h"
#include "ockham/data/csv_header.h"
#include "ockham/data/csv_records.h"
#include "ockham/data/csv_separator.h"
#include "ockham/data/csv_source.h"
#include "ockham/data/csv_tokenise.h"
#include "ockham/data/text_blocks.h"

namespace ockham {
namespace {

// More than `detect_separator` looks at, so that it sees that the text goes on.
constexpr size_t kBlockBytes = (size_t{1} << 20) + 4096;
// Those that `detect_header` looks at, a line that names the separator, and one more.
constexpr int64_t kFirstRecords = 1002;

bool is_empty_column(const CsvTable& table, int64_t column) {
  for (int64_t row = 0; row < table.rows(); ++row) {
    if (!table.field(row, column).empty()) return false;
  }
  return true;
}

}  // namespace

struct CsvStream::State {
  State(const std::string& path, const CsvOptions& given)
      : name(path == "-" ? "standard input" : path), options(given), blocks(path) {}

  /// Takes the text of the next records out of the buffer; `count` becomes how many they are.
  std::string take_records(int64_t& count);
  size_t find_records(CsvRecords& records, int64_t& count);
  void read_block();
  void drop_unnamed_columns(CsvTable& table) const;

  std::string name;
  CsvOptions options;
  TextBlocks blocks;
  std::string buffer;
  bool whole = false;  // nothing comes after the buffer
  CsvRecords records{',', 0};
  CsvPosition position;
  std::vector<std::string> names, header;  // of the columns that are kept; the first record, when it has names
  std::vector<std::string> messages;
  bool had_header = true, header_waits = false;
};

void CsvStream::State::read_block() {
  const int64_t budget = default_memory_budget();
  if (static_cast<int64_t>(buffer.size()) > budget)
    throw Error(ErrorKind::data,
                fmt::format("{}, line {}: the next rows are longer than {}, the memory budget; is this a table?", name,
                            position.line, human_bytes(budget)));
  whole = !blocks.read(buffer, kBlockBytes);
}

/// The end of the next `count` records, or of the fewer that are left.
size_t CsvStream::State::find_records(CsvRecords& scan, int64_t& count) {
  size_t end = 0;
  int64_t found = 0;
  while (found < count) {
    const size_t next = scan.next_end(buffer, whole);
    if (next != std::string::npos) {
      end = next;
      ++found;
    } else if (whole) {
      break;
    } else {
      read_block();
    }
  }
  count = found;
  return end;
}

std::string CsvStream::State::take_records(int64_t& count) {
  const size_t end = find_records(records, count);
  std::string text = buffer.substr(0, end);
  buffer.erase(0, end);
  records.forget(end);
  return text;
}

/// As `read_csv` does, which sees all rows at once: a last column without a name may have no value in any of them.
void CsvStream::State::drop_unnamed_columns(CsvTable& table) const {
  table.names = header;
  const int64_t last = table.columns() - 1;
  if (header.back().empty()) {
    if (!is_empty_column(table, last)) check_names(table, position.first_line);
    table.drop_column(last);
  }
  if (header.front().empty()) table.drop_column(0);
}

CsvStream::CsvStream(const std::string& path, const CsvOptions& options)
    : state_(std::make_unique<State>(path, options)) {
  State& state = *state_;
  state.read_block();
  check_beginning(state.name, state.buffer);
  std::string peek = state.buffer;
  const char declared = take_separator_line(peek);
  if (options.separator == 0) state.options.separator = declared != 0 ? declared : detect_separator(peek);
  state.records = CsvRecords(state.options.separator, options.longest_field);

  CsvRecords scan = state.records;
  int64_t count = kFirstRecords;
  const size_t end = state.find_records(scan, count);
  CsvTable first = parse_csv(state.buffer.substr(0, end), state.name, options);
  state.names = std::move(first.names);
  state.messages = std::move(first.messages);
  state.had_header = state.header_waits = first.had_header;
  take_separator_line(state.buffer);
}

CsvStream::~CsvStream() = default;

int64_t CsvStream::columns() const { return static_cast<int64_t>(state_->names.size()); }

std::optional<double> CsvStream::share() const { return state_->blocks.share(); }

std::optional<CsvTable> CsvStream::next(int64_t rows) {
  State& state = *state_;
  int64_t count = rows + (state.header_waits ? 1 : 0);
  std::string text = state.take_records(count);
  if (count == 0) return std::nullopt;
  check_characters(state.name, text, state.position.line);
  CsvFields fields = tokenise(state.name, text, state.options, state.position);

  CsvTable table;
  table.path = state.name;
  table.separator = state.options.separator;
  table.had_header = state.had_header;
  table.messages = std::exchange(state.messages, {});
  table.names.resize(static_cast<size_t>(fields.width));
  table.set_fields(std::move(text), std::move(fields.places), std::move(fields.lines));
  if (!state.had_header) {
    table.names = state.names;
    return table;
  }
  if (std::exchange(state.header_waits, false)) {
    for (int64_t column = 0; column < fields.width; ++column) state.header.emplace_back(table.field(0, column));
    table.drop_first_row();
  }
  state.drop_unnamed_columns(table);
  return table;
}

}  // namespace ockham
