// SPDX-License-Identifier: Apache-2.0
// A device's memory and its queue of work, over a module's table (dttrain_device.h).
#pragma once

#include "core/train/accelerator/dttrain_device.h"
#include "core/train/accelerator/kernels/kernel_list.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dts::train::accelerator {

// A device that no longer works, or has no memory left. What it had computed is lost.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Everything throws DeviceError. Memory lives as long as the queue. Not thread-safe: it belongs to
// one thread, the one that opened the context.
class Queue {
 public:
  // Takes over the context.
  Queue(const dttrain_device& device, dttrain_context* context);
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue();

  [[nodiscard]] dttrain_facts facts();

  // Zero, at an address that suits any vector.
  template <class Value = float>
  [[nodiscard]] Value* allocate(std::size_t count) {
    return static_cast<Value*>(allocate_bytes(count * sizeof(Value)));
  }

  // Of allocate(), once the device has done all.
  void release(void* at);

  // What follows is done in this order, but by the device and later.
  template <class Kernel>
  void launch(const Kernel& kernel) {
    constexpr std::uint32_t number = Kernels::number_of<Kernel>();
    if (kernel.blocks() > 0) check(device_.launch(context_, number, &kernel));
  }

  void multiply(const dttrain_product& product) { check(device_.multiply(context_, &product)); }

  template <class Value>
  void clear(Value* at, std::size_t count) {
    if (count > 0) check(device_.clear(context_, at, count * sizeof(Value)));
  }

  // Copies between any memory of the host and the device's, by way of pinned memory; return once
  // the host's memory is no longer used, by to_device() perhaps before the device has it.
  template <class Value>
  void to_device(Value* to, const Value* from, std::size_t count) {
    copy_to_device(to, from, count * sizeof(Value));
  }

  template <class Value>
  void to_host(Value* to, const Value* from, std::size_t count) {
    copy_to_host(to, from, count * sizeof(Value));
  }

  // Until the device has done all.
  void wait() {
    if (before_wait_) before_wait_();
    check(device_.wait(context_));
    is_read_ = {};
  }

  // Is called before the host waits for the device, which it does without a limit.
  void before_wait(std::function<void()> call) { before_wait_ = std::move(call); }

  // For what the module does besides (DeviceExchange).
  [[nodiscard]] const dttrain_device& table() const { return device_; }

  [[nodiscard]] dttrain_context* context() const { return context_; }

  // For tests: is told what the host itself reads or writes of memory that the device uses.
  using Touched = std::function<void(const Access& access)>;

  void tell_touched(Touched touched) { touched_ = std::move(touched); }

 private:
  static constexpr std::size_t k_staging = std::size_t{8} << 20;  // bytes of each half

  static void check(const char* wrong) {
    if (wrong != nullptr) throw DeviceError(wrong);
  }

  void* allocate_bytes(std::size_t bytes);
  void free_memory(void* at);
  std::byte* half(std::size_t number);
  void touch(const void* at, std::size_t bytes, bool writes);
  void copy_to_device(void* to, const void* from, std::size_t bytes);
  void copy_to_host(void* to, const void* from, std::size_t bytes);

  const dttrain_device& device_;
  dttrain_context* context_;
  std::vector<void*> memory_;
  void* staging_ = nullptr;        // two halves
  std::array<bool, 2> is_read_{};  // of each, since the last wait()
  std::size_t next_half_ = 0;
  std::function<void()> before_wait_;
  Touched touched_;
};

}  // namespace dts::train::accelerator
