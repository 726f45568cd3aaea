// SPDX-License-Identifier: Apache-2.0
// metrics.jsonl: one event per line, each appended with one write(2).
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/base/result.hpp"

#include <string>
#include <string_view>

namespace dts::train {

// Keeps the first failure and stops writing: the loop reads it with status() and stops all ranks.
// Not thread-safe.
class Metrics {
 public:
  Metrics() = default;  // writes nothing

  // Creates the file with mode 0600, or appends to it.
  [[nodiscard]] Result<void> open(const std::string& path);

  // `fields` are the members of one JSON object without its braces. A line that did not fit on the
  // disk is removed again, so that a reader never sees half of one.
  void write(std::string_view fields);

  [[nodiscard]] const Result<void>& status() const { return status_; }

 private:
  std::string path_;
  UniqueFd file_;
  Result<void> status_;
};

// `text` as a JSON string, with its quotes.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace dts::train
