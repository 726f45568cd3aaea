// SPDX-License-Identifier: Apache-2.0
// Floats that are written before they are read, in host memory or in a device's. Copies share the
// memory, and the last one frees it. Not thread-safe.
#pragma once

#include "core/train/memory/buffer.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace dts::train {

class Room {
 public:
  Room() = default;

  Room(std::shared_ptr<float> at, std::size_t floats) : at_(std::move(at)), floats_(floats) {}

  // In host memory.
  explicit Room(std::size_t floats) : floats_(floats) {
    const auto buffer = std::make_shared<Buffer>(floats + 1);
    at_ = {buffer, buffer->data()};
  }

  // Ensures room for at least `floats`, in host memory. The content may be lost.
  void grow(std::size_t floats) {
    if (at_ == nullptr || floats_ < floats) *this = Room(floats);
  }

  [[nodiscard]] float* data() const { return at_.get(); }

  [[nodiscard]] std::size_t size() const { return floats_; }

 private:
  std::shared_ptr<float> at_;
  std::size_t floats_ = 0;
};

}  // namespace dts::train
