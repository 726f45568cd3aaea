// SPDX-License-Identifier: Apache-2.0
// A file that is mapped for reading. Movable; thread-safe once open. The file must not be truncated
// while it is open: reading missing pages kills the process (mmap(2), SIGBUS).
#pragma once

#include "core/base/result.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace dts::train {

class MappedFile {
 public:
  // Errc::not_found or Errc::io, both with `hint`; Errc::invalid if the file is empty or not a
  // regular file.
  [[nodiscard]] static Result<MappedFile> open(const std::string& path,
                                               const std::string& hint = {});

  [[nodiscard]] std::string_view content() const {
    return {static_cast<const char*>(memory_.get()), memory_.get_deleter().bytes};
  }

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(void* memory) const;
  };

  explicit MappedFile(std::unique_ptr<void, Unmap> memory) : memory_(std::move(memory)) {}

  std::unique_ptr<void, Unmap> memory_;
};

}  // namespace dts::train
