// SPDX-License-Identifier: Apache-2.0
// A file to which complete records are appended, each with one write(2): metrics.jsonl by lines.
#pragma once

#include "core/base/files/unique_fd.hpp"
#include "core/base/result.hpp"

#include <string>
#include <string_view>

namespace dts::train {

// After the first failure it stops writing; status() has the error, so that the training loop can
// stop all ranks. Not thread-safe.
class AppendedFile {
 public:
  AppendedFile() = default;  // writes nothing

  // Creates the file with mode 0600, or appends to it.
  [[nodiscard]] Result<void> open(const std::string& path);

  // Appends a record. If it does not fit on the disk, it is removed again, so that a reader never
  // sees part of a record.
  void append(std::string_view record);

  [[nodiscard]] const Result<void>& status() const { return status_; }

 private:
  std::string path_;
  UniqueFd file_;
  Result<void> status_;
};

}  // namespace dts::train
