// SPDX-License-Identifier: Apache-2.0
// An array of floats aligned to a cache line, initially zero. Movable; not thread-safe.
#pragma once

#include "core/train/memory/range.hpp"
#include "core/train/memory/shared_buffers.hpp"
#include "core/train/memory/sparse_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace dts::train {

struct FreeFloats {
  enum class Kind { ordinary, shared, sparse };

  Kind kind = Kind::ordinary;
  std::size_t bytes = 0;  // of Kind::sparse

  void operator()(float* floats) const {
    switch (kind) {
      case Kind::ordinary:
        return std::free(floats);
      case Kind::shared:
        return free_shared(floats);
      case Kind::sparse:
        return free_sparse(floats, bytes);
    }
  }
};

class Buffer {
 public:
  Buffer() = default;

  explicit Buffer(std::size_t count) : data_(allocate(count)), count_(count) {}

  // A buffer whose content goes to other ranks: after share_buffers(), the ranks of the node read
  // it in place.
  [[nodiscard]] static Buffer shared(std::size_t count) {
    Buffer made;
    made.data_ = {allocate_shared(count * sizeof(float)), FreeFloats{FreeFloats::Kind::shared}};
    made.count_ = count;
    return made;
  }

  // A buffer that uses memory only for pages that have been written, until drop().
  [[nodiscard]] static Buffer sparse(std::size_t count) {
    Buffer made;
    const std::size_t bytes = count * sizeof(float);
    made.data_ = {allocate_sparse(bytes), FreeFloats{FreeFloats::Kind::sparse, bytes}};
    made.count_ = count;
    return made;
  }

  // For a sparse buffer: sets the whole pages of the run, which may be empty, to zero and frees
  // their memory.
  void drop(Range run) {
    if (data_.get_deleter().kind == FreeFloats::Kind::sparse)
      drop_pages(data_.get() + run.begin, data_.get() + run.end);
  }

  void set_to_zero() {
    drop({0, count_});
    const std::size_t kept = data_.get_deleter().kind == FreeFloats::Kind::sparse
                                 ? std::min<std::size_t>(count_, k_largest_page)
                                 : count_;
    std::fill_n(data_.get() + (count_ - kept), kept, 0.0F);
  }

  static constexpr std::size_t k_largest_page = (64 << 10) / sizeof(float);

  [[nodiscard]] float* data() { return data_.get(); }

  [[nodiscard]] const float* data() const { return data_.get(); }

  [[nodiscard]] std::size_t size() const { return count_; }

  [[nodiscard]] std::span<float> all() { return {data_.get(), count_}; }

  [[nodiscard]] std::span<const float> all() const { return {data_.get(), count_}; }

 private:
  static float* allocate(std::size_t count) {
    const std::size_t bytes = (count * sizeof(float) + 63) / 64 * 64;
    auto* const p = static_cast<float*>(std::aligned_alloc(64, std::max<std::size_t>(bytes, 64)));
    if (p == nullptr) throw std::bad_alloc();
    std::fill_n(p, count, 0.0F);
    return p;
  }

  std::unique_ptr<float[], FreeFloats> data_;
  std::size_t count_ = 0;
};

// For tests: flips one bit in the middle of the fraction, a change that no other check would
// notice.
inline void flip_bit(float& value) {
  value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ 0x00001000U);
}

}  // namespace dts::train
