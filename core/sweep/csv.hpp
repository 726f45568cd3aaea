// SPDX-License-Identifier: Apache-2.0
// Comma-separated values (RFC 4180): fields may be quoted by ", and "" in one is a quotation mark.
// Blanks around a field that is not quoted do not count. Pure, thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dts::sweep {

struct Field {
  std::string text;
  std::size_t at = 0;   // the byte where it begins
  bool quoted = false;  // taken literally
};

struct Record {
  std::vector<Field> fields;
  std::size_t begin = 0;  // of its line
  std::string problem;    // what is wrong with it; empty: nothing
  std::size_t where = 0;  // the byte of the problem
};

// The record that begins at `at`, which is moved behind its end of line. A line without anything
// is a record of one empty field.
[[nodiscard]] Record read_record(std::string_view text, std::size_t& at);

}  // namespace dts::sweep
