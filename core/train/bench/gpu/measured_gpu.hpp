// SPDX-License-Identifier: Apache-2.0
// One GPU while its rates are measured: its memory, copies and products, and how long they take.
#pragma once

#include "core/train/accelerator/open_device.hpp"
#include "core/train/bench/gpu/node_pages.hpp"

#include <functional>
#include <string>
#include <vector>

namespace dts::train::bench {

// Functions that fail say what the module said, "cudaMalloc: cudaErrorMemoryAllocation: out of
// memory", as Errc::io or, before it is open, Errc::invalid. A driver may hang in each of them.
// What it has taken of the GPU is given back by the destructor. Not thread-safe.
class MeasuredGpu {
 public:
  MeasuredGpu(const accelerator::DeviceModule& module, int number)
      : module_(module), number_(number) {}

  MeasuredGpu(const MeasuredGpu&) = delete;
  MeasuredGpu& operator=(const MeasuredGpu&) = delete;
  ~MeasuredGpu();

  // First, and once. Takes three pieces of its memory of `bytes` each.
  [[nodiscard]] Result<void> open(std::size_t bytes);

  [[nodiscard]] int number() const { return number_; }

  [[nodiscard]] const dttrain_facts& facts() const { return facts_; }

  // " (0000:3b:00.0)" once it is open.
  [[nodiscard]] std::string place() const;

  // Seconds of one piece of work by the GPU's own clock, whatever the processors do meanwhile.
  using Timed = std::function<Result<double>()>;

  // Of copies of `pages`, which pin() has made ready and which are as large as a piece: to the GPU,
  // and back.
  [[nodiscard]] Result<void> pin(const NodePages& pages);
  [[nodiscard]] Result<double> copy_to(const NodePages& pages);
  [[nodiscard]] Result<double> copy_back(const NodePages& pages);
  void unpin(const NodePages& pages);

  // From one of its pieces to another: each byte is read and written.
  [[nodiscard]] Result<double> copy_within();

  // From another GPU's piece to one of its own; and whether that needs no memory of the host.
  [[nodiscard]] Result<double> copy_from(const MeasuredGpu& other);
  [[nodiscard]] Result<bool> reaches(const MeasuredGpu& other);

  // A product of square matrices of what copy_to() and copy_within() have left in the pieces; sums
  // are float. Only while it is the one that the thread has opened last.
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
