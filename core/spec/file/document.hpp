// SPDX-License-Identifier: Apache-2.0
// A parsed JSON or TOML file: its value as JSON, and the position of each value and key in the
// text. Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace dts::spec {

struct Spot {
  unsigned line = 0;    // from 1; 0: unknown
  unsigned column = 0;  // from 1, in characters
};

// Positions by JSON pointer (RFC 6901); "" is the whole document.
struct Spots {
  std::map<std::string, Spot> values;
  std::map<std::string, Spot> keys;  // of members of objects
};

class Document {
 public:
  Document(std::string file, std::string text, nlohmann::json value, Spots spots);

  [[nodiscard]] const nlohmann::json& value() const { return *value_; }

  // "job.toml:3:9" for the value at the pointer, or for the nearest enclosing one with a known
  // position.
  [[nodiscard]] std::string place(const std::string& pointer) const;

  // Adds place, line and caret to an error about that value, or about its key.
  [[nodiscard]] Diagnostic at_value(const std::string& pointer, Error error) const;
  [[nodiscard]] Diagnostic at_key(const std::string& pointer, Error error) const;

 private:
  std::string file_, text_;
  std::shared_ptr<const nlohmann::json> value_;
  Spots spots_;
};

// Limits on the size of a user's file, of any text (in a run's spec.json each argument of a program
// has a line of its own), and on the nesting of brackets.
inline constexpr std::size_t k_most_bytes = std::size_t{1} << 20;
inline constexpr std::size_t k_longest_text = std::size_t{16} << 20;
inline constexpr int k_deepest = 16;

// `file` appears in messages: FILE:LINE:COLUMN with the line and a caret. Returns nullopt, with the
// reason in `problems`, for a text that is malformed, not UTF-8, too large or too deeply nested. A
// duplicate key is a problem, too, but the rest can be read.
[[nodiscard]] std::optional<Document> parse_json(std::string_view text,
                                                 const std::string& file,
                                                 Diagnostics& problems);

// Dates and times become strings. toml++ stops at the first syntax error.
[[nodiscard]] std::optional<Document> parse_toml(std::string_view text,
                                                 const std::string& file,
                                                 Diagnostics& problems);

// Why a text cannot be read in any format: its size, invalid UTF-8, or a NUL.
[[nodiscard]] std::optional<Diagnostic> unreadable(std::string_view text, const std::string& file);

// A problem at a position in a text.
[[nodiscard]] Diagnostic at_spot(std::string_view text,
                                 const std::string& file,
                                 Spot spot,
                                 Error error);

// Pointer to `key` of the object at `pointer`.
[[nodiscard]] std::string member_of(const std::string& pointer, std::string_view key);

}  // namespace dts::spec
