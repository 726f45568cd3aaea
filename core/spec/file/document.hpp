// SPDX-License-Identifier: Apache-2.0
// A parsed file, JSON or TOML alike: its value as JSON, and the place of each value and key in the
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
  unsigned line = 0;    // from 1; 0: not known
  unsigned column = 0;  // from 1, in characters
};

// By JSON pointer (RFC 6901): "" is the whole document.
struct Spots {
  std::map<std::string, Spot> values;
  std::map<std::string, Spot> keys;  // of members of objects
};

class Document {
 public:
  Document(std::string file, std::string text, nlohmann::json value, Spots spots);

  [[nodiscard]] const nlohmann::json& value() const { return *value_; }

  // "job.toml:3:9" of the value at the pointer, or of the nearest one around it that has a place.
  [[nodiscard]] std::string place(const std::string& pointer) const;

  // What is wrong with that value, or with the key of it: place, line and caret.
  [[nodiscard]] Diagnostic at_value(const std::string& pointer, Error error) const;
  [[nodiscard]] Diagnostic at_key(const std::string& pointer, Error error) const;

 private:
  std::string file_, text_;
  std::shared_ptr<const nlohmann::json> value_;
  Spots spots_;
};

// At most so much is read, and brackets in brackets so deep.
inline constexpr std::size_t k_most_bytes = std::size_t{1} << 20;
inline constexpr int k_deepest = 16;

// `file` is for the messages: FILE:LINE:COLUMN with the line and a caret. nullopt, with the reason
// in `problems`, for a text that is not in the format, not UTF-8, too large or too deep. A key
// given twice is a problem, too, but the rest can be read.
[[nodiscard]] std::optional<Document> parse_json(std::string_view text,
                                                 const std::string& file,
                                                 Diagnostics& problems);

// Dates and times become strings. TOML's own parser ends at the first mistake of the syntax.
[[nodiscard]] std::optional<Document> parse_toml(std::string_view text,
                                                 const std::string& file,
                                                 Diagnostics& problems);

// What keeps a text from being read in any format: its size, a byte that is not UTF-8, a NUL.
[[nodiscard]] std::optional<Diagnostic> unreadable(std::string_view text, const std::string& file);

// A problem at a spot of a text.
[[nodiscard]] Diagnostic at_spot(std::string_view text,
                                 const std::string& file,
                                 Spot spot,
                                 Error error);

// `key` of the object at `pointer`.
[[nodiscard]] std::string member_of(const std::string& pointer, std::string_view key);

}  // namespace dts::spec
