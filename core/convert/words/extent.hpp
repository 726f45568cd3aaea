// SPDX-License-Identifier: Apache-2.0
// Where a statement ends in the text: with the & and the here-documents behind it. Pure.
#pragma once

#include "core/shell/syntax.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace dts::convert {

[[nodiscard]] inline bool is_within(const shell::Span& inner, const shell::Span& outer) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

[[nodiscard]] inline bool has_within(const std::vector<shell::Span>& all,
                                     const shell::Span& outer) {
  return std::any_of(
      all.begin(), all.end(), [&](const shell::Span& one) { return is_within(one, outer); });
}

// With the & behind it.
[[nodiscard]] shell::Span with_sign(std::string_view text, const shell::Statement& statement);

// The text of the statement's here-documents as far as it is behind the statement, up to the end of
// the last one's delimiter; empty, at its end: there are none.
[[nodiscard]] shell::Span documents_of(std::string_view text,
                                       const shell::Script& script,
                                       const shell::Statement& statement);

// All of a list that is not empty.
[[nodiscard]] shell::Span extent_of(std::string_view text,
                                    const shell::Script& script,
                                    const shell::Statements& statements);

// `whole` without `parts`, which are in order.
[[nodiscard]] std::vector<shell::Span> rest_of(const shell::Span& whole,
                                               const std::vector<shell::Span>& parts);

}  // namespace dts::convert
