// SPDX-License-Identifier: Apache-2.0
// A rewritten script, with the origin of each byte in the original script. Pure.
#pragma once

#include "core/convert/job/account.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dts::convert {

class Rewrite {
 public:
  // `from` must outlive this.
  explicit Rewrite(std::string_view from) : from_(from) {}

  // Adds bytes of `from` unchanged.
  void keep(Span span);

  // A byte of `from` that text() does not have, in the row of the byte before it.
  void drop(std::size_t at) { dropped_.insert(at); }

  // Bytes that `from` does not have.
  void insert(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }

  [[nodiscard]] bool is_same() const { return text_ == from_; }

  // The bytes of `from` in the span, in order; each once.
  [[nodiscard]] std::vector<Span> origin_of(const Span& span) const;

  // Converts rows of text() to rows of `from`, and adds `more`, which are of `from` already. A byte
  // that is in several rows, because text() has it several times, goes to the most important: lost
  // before kept, kept before unnecessary.
  [[nodiscard]] std::vector<Row> rows_of(const std::vector<Row>& rows,
                                         const std::vector<Row>& more) const;

 private:
  // Of text(): from the first kept byte that is no blank to the end of its line.
  [[nodiscard]] Span line_behind(std::size_t at) const;

  std::string_view from_;
  std::string text_;
  std::set<std::size_t> dropped_;
  std::vector<std::size_t> origins_;  // of each byte of text_; k_none: inserted
};

}  // namespace dts::convert
