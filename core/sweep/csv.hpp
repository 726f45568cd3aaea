// SPDX-License-Identifier: Apache-2.0
// Comma-separated values (RFC 4180): fields may be quoted by ", with "" for a literal quotation
// mark. Blanks around an unquoted field are ignored. Pure, thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dts::sweep {

struct Field {
  std::string text;
  std::size_t at = 0;   // byte offset of its start
  bool quoted = false;  // taken literally
};

struct Record {
  std::vector<Field> fields;
  std::size_t begin = 0;  // byte offset of its line
  std::string problem;    // empty: none
  std::size_t where = 0;  // byte offset of the problem
};

// Reads the record that starts at `at`, and moves `at` past the end of its line. An empty line is a
// record with one empty field.
[[nodiscard]] Record read_record(std::string_view text, std::size_t& at);

}  // namespace dts::sweep
