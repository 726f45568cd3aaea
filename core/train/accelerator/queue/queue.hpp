// SPDX-License-Identifier: Apache-2.0
// A device's memory and its streams of work, through a module's table (dttrain_device.h).
#pragma once

#include "core/train/accelerator/dttrain_device.h"
#include "core/train/accelerator/kernels/kernel_list.hpp"
#include "core/train/accelerator/queue/streams.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dts::train::accelerator {

// Kernels, products and clears that are enqueued together.
struct Graph {
  dttrain_graph* at = nullptr;
  std::size_t pieces = 0;
};

// Every function may throw DeviceError. Memory, events and graphs live as long as the queue. Not
// thread-safe: it belongs to the thread that opened the context.
class Queue {
 public:
  // Takes ownership of the context.
  Queue(const dttrain_device& device, dttrain_context* context);
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue();

  [[nodiscard]] dttrain_facts facts();

  // Memory filled with zeros and aligned for any vector.
  template <class Value = float>
  [[nodiscard]] Value* allocate(std::size_t count) {
    return static_cast<Value*>(allocate_bytes(count * sizeof(Value)));
  }

  // Frees memory of allocate(), after the device has done all its work.
  void release(void* at);

  // The following functions enqueue work, which the device does later, in this order.
  template <class Kernel>
  void launch(const Kernel& kernel) {
    constexpr std::uint32_t number = Kernels::number_of<Kernel>();
    if (kernel.blocks() == 0) return;
    begin_piece();
    check(device_.launch(context_, number, &kernel));
  }

  void multiply(const dttrain_product& product) {
    begin_piece();
    check(device_.multiply(context_, &product));
  }

  template <class Value>
  void clear(Value* at, std::size_t count) {
    if (count == 0) return;
    begin_piece();
    check(device_.clear(context_, at, count * sizeof(Value)));
  }

  // Copies between any host memory and the device's, through pinned memory, in the same order. They
  // return once the host's memory is no longer used; to_device() may return before the device has
  // the data.
  template <class Value>
  void to_device(Value* to, const Value* from, std::size_t count) {
    forbid("a copy to the device");
    if (count == 0) return;
    streams_.follow(Stream::copy_in, Stream::compute);
    copy_to_device(to, from, count * sizeof(Value));
  }

  template <class Value>
  void to_host(Value* to, const Value* from, std::size_t count) {
    forbid("a copy to the host");
    if (count == 0) return;
    follow_copies();
    streams_.follow(Stream::copy_out, Stream::compute);
    copy_to_host(to, from, count * sizeof(Value));
  }

  // Like these, but the copy starts once the device has reached the event, and not after everything
  // that was enqueued. What is enqueued later follows the copy as usual.
  template <class Value>
  void to_device_after(const Event& event, Value* to, const Value* from, std::size_t count) {
    forbid("a copy to the device");
    if (count == 0) return;
    streams_.follow(Stream::copy_in, event);
    copy_to_device(to, from, count * sizeof(Value));
  }

  template <class Value>
  void to_host_after(const Event& event, Value* to, const Value* from, std::size_t count) {
    forbid("a copy to the host");
    if (count == 0) return;
    streams_.follow(Stream::copy_out, event);
    copy_to_host(to, from, count * sizeof(Value));
  }

  [[nodiscard]] Event new_event(bool is_timed = false) { return streams_.new_event(is_timed); }

  // Records the event after the kernels and products so far. A copy to the device comes before the
  // event only if one of these followed the copy.
  void record(Event& event) {
    forbid("an event");
    streams_.record(event, Stream::compute);
  }

  // Waits until the device has reached the event.
  void wait(const Event& event) {
    forbid("a wait of the host");
    await(event);
  }

  // Pinned host memory, valid as long as the queue, and copies between it and device memory. The
  // copies are ordered like other work, and the host does not wait for them.
  [[nodiscard]] float* allocate_pinned(std::size_t count);
  void offload(float* pinned, const float* from, std::size_t count);
  void reload(float* to, const float* pinned, std::size_t count);

  // Waits until the device has done all its work.
  void wait() {
    forbid("a wait of the host");
    if (before_wait_) before_wait_();
    streams_.wait_for_all();
  }

  // Both must be timed events. wait() must have been called for them, or for something after them.
  [[nodiscard]] double seconds_between(const Event& first, const Event& last) {
    return streams_.seconds_between(first, last);
  }

  // The time of what work() enqueues, in seconds of the device's clock; waits for it.
  template <class Work>
  [[nodiscard]] double seconds_of(const Work& work) {
    double seconds = 0;
    check(device_.start_timer(context_));
    work();
    check(device_.stop_timer(context_, &seconds));
    return seconds;
  }

  [[nodiscard]] bool has_graphs() const { return device_.begin_graph != nullptr; }

  // Makes a graph of what work() enqueues, with its current arguments, without running it. A graph
  // can have only kernels, products and clears.
  template <class Work>
  [[nodiscard]] Graph graph_of(const Work& work) {
    begin_graph();
    try {
      work();
    } catch (...) {
      drop_graph();
      throw;
    }
    return end_graph();
  }

  void replay(const Graph& graph) {
    begin_piece();
    check(device_.replay(context_, graph.at));
  }

  // Bytes of device memory that are currently allocated.
  [[nodiscard]] std::size_t allocated() const { return allocated_; }

  // Sets a function to call before each wait for the device, since these have no time limit.
  void before_wait(std::function<void()> call) { before_wait_ = std::move(call); }

  // For work that the caller itself enqueues in the stream of kernels (DeviceExchange): call this
  // before it.
  void begin_piece();

  [[nodiscard]] const dttrain_device& table() const { return device_; }

  [[nodiscard]] dttrain_context* context() const { return context_; }

  // For tests: reports reads and writes by the host of memory that the device uses.
  using Touched = std::function<void(const Access& access)>;

  void tell_touched(Touched touched) { touched_ = std::move(touched); }

 private:
  static constexpr std::size_t k_half = std::size_t{8} << 20;  // bytes

  // Pinned memory for copies in one direction.
  struct Staging {
    std::byte* at = nullptr;      // two halves
    std::array<Event, 2> copied;  // after the last copy of each half
    std::size_t next = 0;

    [[nodiscard]] std::byte* half(std::size_t number) const { return at + number * k_half; }
  };

  static void check(const char* wrong) {
    if (wrong != nullptr) throw DeviceError(wrong);
  }

  // Throws if a graph is being made, which cannot have `what`.
  void forbid(const char* what) const;
  void follow_copies();
  void await(const Event& event);
  void begin_graph();
  [[nodiscard]] Graph end_graph();
  void drop_graph();
  void* allocate_bytes(std::size_t bytes);
  void free_memory(void* at);
  void make_staging();
  void touch(const void* at, std::size_t bytes, bool writes);
  void copy_to_device(void* to, const void* from, std::size_t bytes);
  void copy_to_host(void* to, const void* from, std::size_t bytes);

  const dttrain_device& device_;
  dttrain_context* context_;
  Streams streams_;
  std::map<void*, std::size_t> memory_;  // bytes of each allocation
  std::size_t allocated_ = 0;
  Staging in_;
  Staging out_;
  std::vector<void*> pinned_;
  // Copies that no kernel has followed yet:
  bool has_copies_ = false;    // to the device
  bool has_offloads_ = false;  // from it; kernels must not overwrite their source before
  bool in_graph_ = false;
  std::size_t pieces_ = 0;  // of the current graph
  std::vector<dttrain_graph*> graphs_;
  std::function<void()> before_wait_;
  Touched touched_;
};

}  // namespace dts::train::accelerator
