// SPDX-License-Identifier: Apache-2.0
#include "core/sweep/csv.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>

namespace dts::sweep {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// `at` is just past the opening quotation mark, and on return past the closing one.
Field quoted_field(std::string_view text, std::size_t& at, Record& record) {
  Field field{{}, at - 1, true};
  while (at < text.size()) {
    const char c = text[at++];
    if (c != '"') {
      field.text += c;
    } else if (at < text.size() && text[at] == '"') {
      field.text += '"';
      ++at;
    } else {
      return field;
    }
  }
  record.problem = "the quotation mark is never closed";
  record.where = field.at;
  return field;
}

Field plain_field(std::string_view text, std::size_t& at) {
  const std::size_t end = std::min(text.find_first_of(",\r\n", at), text.size());
  const std::size_t begin = at;
  at = end;
  return {std::string(trim(text.substr(begin, end - begin))), begin, false};
}

Field next_field(std::string_view text, std::size_t& at, Record& record) {
  while (at < text.size() && is_blank(text[at])) ++at;
  if (at >= text.size() || text[at] != '"') return plain_field(text, at);
  Field field = quoted_field(text, ++at, record);
  while (at < text.size() && is_blank(text[at])) ++at;
  const bool ends = at >= text.size() || text[at] == ',' || text[at] == '\r' || text[at] == '\n';
  if (!ends && record.problem.empty()) {
    record.problem = "text behind a quoted value";
    record.where = at;
    at = std::min(text.find_first_of(",\r\n", at), text.size());
  }
  return field;
}

}  // namespace

Record read_record(std::string_view text, std::size_t& at) {
  Record record;
  record.begin = at;
  while (true) {
    record.fields.push_back(next_field(text, at, record));
    if (at >= text.size() || text[at] != ',') break;
    ++at;
  }
  if (at < text.size() && text[at] == '\r') ++at;
  if (at < text.size() && text[at] == '\n') ++at;
  return record;
}

}  // namespace dts::sweep
