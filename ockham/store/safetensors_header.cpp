#include "ockham/store/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "ockham/base/error.h"

namespace ockham {
namespace {

using Json = nlohmann::json;

constexpr const char* metadata_key = "__metadata__";
constexpr size_t most_dimensions = 64;

const std::vector<std::pair<const char*, c10::ScalarType>>& known_types() {
  static const std::vector<std::pair<const char*, c10::ScalarType>> types = {
      {"BOOL", c10::ScalarType::Bool}, {"U8", c10::ScalarType::Byte},       {"I8", c10::ScalarType::Char},
      {"I16", c10::ScalarType::Short}, {"I32", c10::ScalarType::Int},       {"I64", c10::ScalarType::Long},
      {"F16", c10::ScalarType::Half},  {"BF16", c10::ScalarType::BFloat16}, {"F32", c10::ScalarType::Float},
      {"F64", c10::ScalarType::Double}};
  return types;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::data, fmt::format("{}: {}", path, why));
}

/// A name from the file, fit for one line of a message.
std::string quoted(const std::string& name) {
  std::string shown;
  for (const char letter : name.substr(0, 80)) shown += static_cast<unsigned char>(letter) < 32 ? '?' : letter;
  return fmt::format("'{}{}'", shown, name.size() > 80 ? "..." : "");
}

/// JSON that nests no deeper than the format does and repeats no key; by default the last of two equal keys would win
/// silently.
Json parse_strictly(const std::string& path, const std::string& text) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > 4) refuse(path, "its header is nested too deeply for a safetensors file");
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      refuse(path, fmt::format("the name {} is twice in its header", quoted(value.get<std::string>())));
    }
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::exception&) {
    refuse(path, "its header is no JSON; the file is damaged or no safetensors file");
  }
}

/// A whole number from 0 that fits 64 bits with a sign.
std::optional<int64_t> whole_number(const Json& value) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) return std::nullopt;
  return value.get<int64_t>();
}

std::map<std::string, std::string> parse_metadata(const std::string& path, const Json& value) {
  std::map<std::string, std::string> metadata;
  if (!value.is_object()) refuse(path, "its __metadata__ is no object of texts");
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) refuse(path, fmt::format("its metadata {} is no text", quoted(key)));
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

TensorEntry parse_entry(const std::string& path, const std::string& name, const Json& value) {
  const auto wrong = [&](const std::string& why) { refuse(path, fmt::format("tensor {} {}", quoted(name), why)); };
  TensorEntry entry;
  entry.name = name;
  if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") || !value.contains("data_offsets")) {
    wrong("is not described by dtype, shape and data_offsets");
  }
  if (!value["dtype"].is_string()) wrong("has a dtype that is no text");
  const auto type_name = value["dtype"].get<std::string>();
  const auto& types = known_types();
  const auto type =
      std::find_if(types.begin(), types.end(), [&](const auto& known) { return type_name == known.first; });
  if (type == types.end()) wrong(fmt::format("has the type {}, which cannot be read here", quoted(type_name)));
  entry.type = type->second;

  const Json& shape = value["shape"];
  if (!shape.is_array() || shape.size() > most_dimensions) {
    wrong(fmt::format("has no list of at most {} whole numbers as its shape", most_dimensions));
  }
  int64_t bytes = static_cast<int64_t>(c10::elementSize(entry.type));
  int64_t strides = bytes;  // overflows even where another extent is 0
  for (const Json& extent_value : shape) {
    const auto extent = whole_number(extent_value);
    if (!extent) wrong("has a shape with an entry that is no whole number from 0");
    if (*extent > 0 && strides > INT64_MAX / *extent) wrong("has a shape that promises an impossible size");
    strides *= std::max<int64_t>(*extent, 1);
    bytes *= *extent;
    entry.shape.push_back(*extent);
  }

  const Json& offsets = value["data_offsets"];
  const bool two = offsets.is_array() && offsets.size() == 2;
  const auto begin = two ? whole_number(offsets[0]) : std::nullopt;
  const auto end = two ? whole_number(offsets[1]) : std::nullopt;
  if (!begin || !end || *begin > *end) wrong("has data_offsets that are no two rising whole numbers");
  entry.begin = *begin;
  entry.end = *end;
  if (entry.end - entry.begin != bytes) {
    wrong(fmt::format("needs {} bytes by its shape and type, but its data_offsets give it {}", bytes,
                      entry.end - entry.begin));
  }
  return entry;
}

void expect_tiling(const std::string& path, const std::vector<TensorEntry>& entries, int64_t value_bytes) {
  int64_t covered = 0;
  for (const TensorEntry& entry : entries) {
    if (entry.end > value_bytes) {
      refuse(path, fmt::format("tensor {} ends {} bytes after the end of the file, which is truncated or damaged",
                               quoted(entry.name), entry.end - value_bytes));
    }
    if (entry.begin < covered) refuse(path, fmt::format("tensor {} overlaps another one", quoted(entry.name)));
    if (entry.begin > covered) {
      refuse(path, fmt::format("{} bytes before tensor {} belong to none; the file is damaged", entry.begin - covered,
                               quoted(entry.name)));
    }
    covered = entry.end;
  }
  if (covered < value_bytes) {
    refuse(path, fmt::format("{} bytes at its end belong to no tensor; the file is damaged", value_bytes - covered));
  }
}

}  // namespace

std::string format_safetensors_header(const std::string& path, const SafetensorsHeader& header) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!header.metadata.empty()) json[metadata_key] = header.metadata;
  for (const TensorEntry& entry : header.entries) {
    const auto& types = known_types();
    const auto type =
        std::find_if(types.begin(), types.end(), [&](const auto& known) { return entry.type == known.second; });
    if (type == types.end() || entry.name == metadata_key) {
      throw Error(ErrorKind::failure, fmt::format("{}: tensor {} has a type or name that safetensors files cannot hold",
                                                  path, quoted(entry.name)));
    }
    json[entry.name] = {{"dtype", type->first}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}};
  }
  try {
    std::string text = json.dump();
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
  } catch (const Json::exception&) {
    throw Error(ErrorKind::failure, fmt::format("{}: a name or metadata is no UTF-8 text and cannot be written", path));
  }
}

SafetensorsHeader parse_safetensors_header(const std::string& path, const std::string& text, int64_t value_bytes) {
  if (text.empty() || text[0] != '{') refuse(path, "is no safetensors file: its header does not start with '{'");
  const Json json = parse_strictly(path, text);
  if (!json.is_object()) refuse(path, "its header is no JSON object");
  SafetensorsHeader header;
  for (const auto& [name, value] : json.items()) {
    if (name == metadata_key) {
      header.metadata = parse_metadata(path, value);
    } else {
      header.entries.push_back(parse_entry(path, name, value));
    }
  }
  std::sort(header.entries.begin(), header.entries.end(), [](const TensorEntry& left, const TensorEntry& right) {
    return std::make_pair(left.begin, left.end) < std::make_pair(right.begin, right.end);
  });
  expect_tiling(path, header.entries, value_bytes);
  return header;
}

}  // namespace ockham
