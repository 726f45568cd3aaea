// SPDX-License-Identifier: Apache-2.0
// A file that grows by whole records, each with one write(2): metrics.jsonl by lines.
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/base/result.hpp"

#include <string>
#include <string_view>

namespace dts::train {

// Keeps the first failure and stops writing: the loop reads it with status() and stops all ranks.
// Not thread-safe.
class AppendedFile {
 public:
  AppendedFile() = default;  // writes nothing

  // Creates the file with mode 0600, or appends to it.
  [[nodiscard]] Result<void> open(const std::string& path);

  // A record that did not fit on the disk is removed again, so that a reader never sees half of
  // one.
  void append(std::string_view record);

  [[nodiscard]] const Result<void>& status() const { return status_; }

 private:
  std::string path_;
  UniqueFd file_;
  Result<void> status_;
};

}  // namespace dts::train
