// SPDX-License-Identifier: Apache-2.0
#include "core/sweep/table.hpp"

#include "core/base/text/array_indices.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/sweep/csv.hpp"
#include "core/sweep/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::sweep {
namespace {

constexpr std::size_t k_most_problems = 20;
constexpr std::string_view k_byte_order_mark = "\xef\xbb\xbf";

class Reader {
 public:
  Reader(std::string_view text, const std::string& file, Diagnostics& problems)
      : text_(text), file_(file), problems_(problems) {
    if (text.rfind(k_byte_order_mark, 0) == 0) at_ = k_byte_order_mark.size();
  }

  // Reads the next non-empty line; false at the end or after too many problems.
  bool next(Record& record) {
    while (at_ < text_.size() && said_ < k_most_problems) {
      record = read_record(text_, at_);
      line_ += lines_;
      const std::string_view whole = text_.substr(record.begin, at_ - record.begin);
      lines_ = static_cast<std::size_t>(std::count(whole.begin(), whole.end(), '\n'));
      if (!record.problem.empty()) say(record, record.where, record.problem);
      const bool empty =
          record.fields.size() == 1 && record.fields[0].text.empty() && !record.fields[0].quoted;
      if (record.problem.empty() && !empty) return true;
    }
    return false;
  }

  void say(const Record& record, std::size_t where, std::string message, std::string hint = {}) {
    ++said_;
    const std::size_t end = std::min(text_.find_first_of("\r\n", record.begin), text_.size());
    std::string source(text_.substr(record.begin, end - record.begin));
    const bool shown =
        source.size() <= 160 && where < end + 1 && is_utf8(source) && is_printable(source);
    const std::size_t column = where - record.begin + 1;
    if (!shown) source.clear();
    problems_.push_back({fmt::format("{}:{}:{}", file_, line_, column),
                         std::move(message),
                         std::move(hint),
                         source,
                         shown ? static_cast<int>(column) : 0});
  }

  [[nodiscard]] bool failed() const { return said_ > 0; }

 private:
  std::string_view text_;
  const std::string& file_;
  Diagnostics& problems_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t lines_ = 0;  // of the latest record
  std::size_t said_ = 0;
};

void take_names(Reader& reader, const Record& record, std::vector<std::string>& names) {
  if (record.fields.size() > k_most_parameters)
    return reader.say(
        record,
        record.begin,
        fmt::format("{} parameters, at most {}", record.fields.size(), k_most_parameters));
  for (const Field& field : record.fields) {
    if (auto trouble = trouble_with_name(field.text, names); !trouble.empty())
      reader.say(record, field.at, std::move(trouble), "the first line names the parameters");
    names.push_back(field.text);
  }
}

void take_values(Reader& reader, const Record& record, std::size_t columns, Rows& rows) {
  if (record.fields.size() != columns)
    return reader.say(record,
                      record.begin,
                      fmt::format("{} values for {} parameters", record.fields.size(), columns));
  std::vector<std::string>& row = rows.emplace_back();
  for (const Field& field : record.fields) {
    if (auto trouble = trouble_with_value(field.text); !trouble.empty())
      reader.say(record, field.at, std::move(trouble));
    row.push_back(field.text);
  }
}

}  // namespace

Rows parse_table(std::string_view text,
                 const std::string& file,
                 std::vector<std::string>& names,
                 Diagnostics& problems) {
  Reader reader(text, file, problems);
  Record record;
  Rows rows;
  if (reader.next(record)) take_names(reader, record, names);
  if (reader.failed()) return {};
  while (reader.next(record)) {
    if (rows.size() == k_most_elements) {
      reader.say(record, record.begin, fmt::format("more than {} elements", k_most_elements));
      break;
    }
    take_values(reader, record, names.size(), rows);
  }
  if (rows.empty() && !reader.failed())
    problems.push_back({file, "has no elements", "a line of names, then a line for each element"});
  return reader.failed() ? Rows() : rows;
}

}  // namespace dts::sweep
