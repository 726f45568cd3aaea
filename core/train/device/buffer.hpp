// SPDX-License-Identifier: Apache-2.0
// An array of floats aligned to a cache line, initially zero. Movable; not thread-safe.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace dts::train {

class Buffer {
 public:
  Buffer() = default;

  explicit Buffer(std::size_t count) : data_(allocate(count)), count_(count) {}

  [[nodiscard]] float* data() { return data_.get(); }

  [[nodiscard]] const float* data() const { return data_.get(); }

  [[nodiscard]] std::size_t size() const { return count_; }

  [[nodiscard]] std::span<float> all() { return {data_.get(), count_}; }

  [[nodiscard]] std::span<const float> all() const { return {data_.get(), count_}; }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };

  static float* allocate(std::size_t count) {
    const std::size_t bytes = (count * sizeof(float) + 63) / 64 * 64;
    auto* const p = static_cast<float*>(std::aligned_alloc(64, std::max<std::size_t>(bytes, 64)));
    if (p == nullptr) throw std::bad_alloc();
    std::fill_n(p, count, 0.0F);
    return p;
  }

  std::unique_ptr<float[], Free> data_;
  std::size_t count_ = 0;
};

// For tests: one bit in the middle of its fraction, which nobody would notice.
inline void flip_bit(float& value) {
  value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ 0x00001000U);
}

}  // namespace dts::train
