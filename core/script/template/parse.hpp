// SPDX-License-Identifier: Apache-2.0
// Mustache templates as trees: mustache(5), specification 1.4 (comments, delimiters, interpolation,
// sections, inverted sections, partials). Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dts::script {

struct TemplateNode {
  enum class Kind {
    text,      // literal
    value,     // {{name}}
    raw,       // {{{name}}} or {{&name}}
    section,   // {{#name}}...{{/name}}
    inverted,  // {{^name}}...{{/name}}
    partial,   // {{>name}}
  };

  Kind kind = Kind::text;
  std::string text;                      // the literal, or the name
  std::size_t at = 0;                    // of its tag, in bytes from the start of the template
  std::string indent{};                  // of a partial alone on its line; added to each line
  std::vector<TemplateNode> children{};  // of a section
};

using TemplateTree = std::vector<TemplateNode>;

// A tag alone on its line consumes the whole line. `name` is the template's name for messages.
// Errc::invalid with NAME:LINE:COLUMN and a caret for an unclosed or unnamed tag, for sections not
// closed in order, and for sections nested deeper than 64.
[[nodiscard]] Result<TemplateTree> parse_template(std::string_view text, const std::string& name);

// An error at a byte of the template.
[[nodiscard]] tl::unexpected<Error> bad_template(std::string_view text,
                                                 const std::string& name,
                                                 std::size_t at,
                                                 std::string message,
                                                 std::string hint = {});

}  // namespace dts::script
