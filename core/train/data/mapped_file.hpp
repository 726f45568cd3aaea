// SPDX-License-Identifier: Apache-2.0
// A file in memory, to be read. Movable; thread-safe once open. The file must not become shorter as
// long as it is open: reading what is gone kills the process (mmap(2), SIGBUS).
#pragma once

#include "core/base/result.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace dts::train {

class MappedFile {
 public:
  // Errc::not_found, Errc::io, or Errc::invalid if it is empty or no regular file; `hint` for the
  // first two.
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
