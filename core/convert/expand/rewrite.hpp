// SPDX-License-Identifier: Apache-2.0
// A script that is written anew, with the place of each byte in the script it comes from. Pure.
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

  // The bytes of `from` as they are.
  void keep(Span span);

  // A byte of `from` that text() does not have, in the row of the byte before it.
  void drop(std::size_t at) { dropped_.insert(at); }

  // Bytes that `from` does not have.
  void insert(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }

  [[nodiscard]] bool is_same() const { return text_ == from_; }

  // The bytes of `from` that the span is made of, in order; each once.
  [[nodiscard]] std::vector<Span> origin_of(const Span& span) const;

  // Rows of text() as rows of `from`, with `more`, which are of `from` already. A byte that several
  // rows ask for, as it is in text() several times, is in the one that matters most: lost before
  // kept, kept before unnecessary.
  [[nodiscard]] std::vector<Row> rows_of(const std::vector<Row>& rows,
                                         const std::vector<Row>& more) const;

 private:
  std::string_view from_;
  std::string text_;
  std::set<std::size_t> dropped_;
  std::vector<std::size_t> origins_;  // of each byte of text_; k_none: inserted
};

}  // namespace dts::convert
