// SPDX-License-Identifier: Apache-2.0
// One GPU whose rates are measured: its memory, copies and products, and their durations.
#pragma once

#include "core/train/accelerator/open_device.hpp"
#include "core/train/bench/gpu/node_pages.hpp"

#include <functional>
#include <string>
#include <vector>

namespace dts::train::bench {

// Errors have the module's message, "cudaMalloc: cudaErrorMemoryAllocation: out of memory", as
// Errc::io or, until it is open, Errc::invalid. Each function may hang in the driver. The
// destructor frees everything that it has taken of the GPU. Not thread-safe.
class MeasuredGpu {
 public:
  MeasuredGpu(const accelerator::DeviceModule& module, int number)
      : module_(module), number_(number) {}

  MeasuredGpu(const MeasuredGpu&) = delete;
  MeasuredGpu& operator=(const MeasuredGpu&) = delete;
  ~MeasuredGpu();

  // Must be called first, and once. Allocates three pieces of GPU memory of `bytes` each.
  [[nodiscard]] Result<void> open(std::size_t bytes);

  [[nodiscard]] int number() const { return number_; }

  [[nodiscard]] const dttrain_facts& facts() const { return facts_; }

  // " (0000:3b:00.0)" once it is open.
  [[nodiscard]] std::string place() const;

  // Returns the seconds of one piece of work by the GPU's own clock, which load on the host does
  // not affect.
  using Timed = std::function<Result<double>()>;

  // Copies `pages`, which must have been pinned by pin() and have the size of a piece, to the GPU
  // and back.
  [[nodiscard]] Result<void> pin(const NodePages& pages);
  [[nodiscard]] Result<double> copy_to(const NodePages& pages);
  [[nodiscard]] Result<double> copy_back(const NodePages& pages);
  void unpin(const NodePages& pages);

  // Copies from one of its pieces to another: reads and writes each byte.
  [[nodiscard]] Result<double> copy_within();

  // Copies from another GPU's piece to one of its own; and whether that bypasses host memory.
  [[nodiscard]] Result<double> copy_from(const MeasuredGpu& other);
  [[nodiscard]] Result<bool> reaches(const MeasuredGpu& other);

  // Multiplies square matrices, made of what copy_to() and copy_within() left in the pieces; sums
  // are float. Only while this GPU is the latest that the thread has opened.
  [[nodiscard]] Result<double> multiply(int side, dttrain_factors factors);

 private:
  [[nodiscard]] Result<void> check(const char* wrong) const;
  [[nodiscard]] Result<double> timed(const std::function<const char*()>& enqueue);

  const accelerator::DeviceModule& module_;
  int number_;
  dttrain_context* context_ = nullptr;
  dttrain_facts facts_{};
  std::size_t bytes_ = 0;
  std::vector<void*> pieces_;
};

}  // namespace dts::train::bench
