#include "ockham/report/report_data.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "ockham/base/error.h"
#include "ockham/base/printable.h"
#include "ockham/report/report_fields.h"

namespace ockham {
namespace {

using report::each_field;
using report::is_row;
using Json = nlohmann::ordered_json;

constexpr int format_version = 1;

double rounded(double value, int digits) {
  if (digits == 0 || !std::isfinite(value)) return value;
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return std::strtod(text, nullptr);
}

struct Writer {
  int digits = 0;

  Json operator()(double value) const { return std::isfinite(value) ? Json(rounded(value, digits)) : Json(nullptr); }
  Json operator()(int64_t value) const { return value; }
  Json operator()(bool value) const { return value; }
  Json operator()(const std::string& value) const { return value; }

  template <typename Element>
  Json operator()(const std::vector<Element>& values) const {
    if constexpr (is_row<Element>) {
      Json columns = Json::object();
      const Element empty;
      each_field(empty, [&](const char* name, const auto&) { columns[name] = Json::array(); });
      for (const Element& row : values)
        each_field(row, [&](const char* name, const auto& field) { columns[name].push_back((*this)(field)); });
      return columns;
    } else {
      Json array = Json::array();
      for (const Element& element : values) array.push_back((*this)(element));
      return array;
    }
  }

  template <typename Part>
  Json operator()(const Part& part) const {
    Json object = Json::object();
    each_field(part, [&](const char* name, const auto& field) { object[name] = (*this)(field); });
    return object;
  }
};

// Fields that are missing keep their defaults: older files stay readable.
struct Reader {
  void operator()(const Json& json, double& value) const { value = json.is_null() ? not_given : json.get<double>(); }
  void operator()(const Json& json, int64_t& value) const {
    if (!json.is_number_integer()) throw std::runtime_error("a number is not whole");  // 1e300 has no conversion
    value = json.get<int64_t>();
  }
  void operator()(const Json& json, bool& value) const { value = json.get<bool>(); }
  void operator()(const Json& json, std::string& value) const { value = json.get<std::string>(); }

  template <typename Element>
  void operator()(const Json& json, std::vector<Element>& values) const {
    values.clear();
    if constexpr (is_row<Element>) {
      for (const auto& [name, column] : json.items()) {
        if (values.empty()) values.resize(column.size());
        if (column.size() != values.size()) throw std::runtime_error("column " + name + " has another length");
      }
      for (size_t row = 0; row < values.size(); ++row)
        each_field(values[row], [&](const char* name, auto& field) {
          if (json.contains(name)) (*this)(json.at(name).at(row), field);
        });
    } else {
      if (!json.is_array()) throw std::runtime_error("a list is expected");
      for (const Json& element : json) (*this)(element, values.emplace_back());
    }
  }

  template <typename Part>
  void operator()(const Json& json, Part& part) const {
    if (!json.is_object()) throw std::runtime_error("an object is expected");
    each_field(part, [&](const char* name, auto& field) {
      if (json.contains(name)) (*this)(json.at(name), field);
    });
  }
};

}  // namespace

std::string report::report_json(const RunReport& report, int digits) {
  Json json = {{"format", "ockham report"}, {"version", format_version}};
  json.update(Writer{digits}(report));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string format_report_data(const RunReport& report) { return report::report_json(report, 0) + "\n"; }

RunReport parse_report_data(const std::string& text) {
  const auto refuse = [](const std::string& reason) -> Error {
    return Error(ErrorKind::data, "the report data cannot be read: " + printable(reason) + "; run `ockham fit` again");
  };
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("format", Json()) != "ockham report") throw refuse("it is no report.json");
  const Json version = json.value("version", Json());
  if (!version.is_number_integer()) throw refuse("it has no format version");
  if (version.get<int64_t>() > format_version)
    throw Error(ErrorKind::data, "the report data have format version " + version.dump() +
                                     ", and this ockham reads up to " + std::to_string(format_version) +
                                     "; use the ockham that wrote them");
  try {
    RunReport report;
    Reader()(json, report);
    return report;
  } catch (const std::exception& error) {
    throw refuse(error.what());
  }
}

}  // namespace ockham
