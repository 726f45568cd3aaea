// SPDX-License-Identifier: Apache-2.0
// A device's memory and its queues of work, over a module's table (dttrain_device.h).
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

// Kernels, products and clears that are enqueued as one.
struct Graph {
  dttrain_graph* at = nullptr;
  std::size_t pieces = 0;
};

// Everything throws DeviceError. Memory, events and graphs live as long as the queue. Not
// thread-safe: it belongs to one thread, the one that opened the context.
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

  // Copies between any memory of the host and the device's, by way of pinned memory, in this order,
  // too; return once the host's memory is no longer used, by to_device() perhaps before the device
  // has it.
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

  // The same while the device computes: begin once it has come to the event, rather than to what
  // was enqueued last. What is enqueued later follows as ever.
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

  // After the kernels and products so far. A copy to the device is before it only if one of those
  // followed the copy.
  void record(Event& event) {
    forbid("an event");
    streams_.record(event, Stream::compute);
  }

  // Until the device has come to it.
  void wait(const Event& event) {
    forbid("a wait of the host");
    await(event);
  }

  // Pinned memory of the host, as long as the queue; and copies between it and the device's memory
  // that are done in their order like all else, and that nobody here waits for.
  [[nodiscard]] float* allocate_pinned(std::size_t count);
  void offload(float* pinned, const float* from, std::size_t count);
  void bring_back(float* to, const float* pinned, std::size_t count);

  // Until the device has done all.
  void wait() {
    forbid("a wait of the host");
    if (before_wait_) before_wait_();
    streams_.wait_for_all();
  }

  // Between two timed events that have been waited for, or whatever comes after them.
  [[nodiscard]] double seconds_between(const Event& first, const Event& last) {
    return streams_.seconds_between(first, last);
  }

  // By the device's own clock, of what work() enqueues; waits for it.
  template <class Work>
  [[nodiscard]] double seconds_of(const Work& work) {
    double seconds = 0;
    check(device_.start_timer(context_));
    work();
    check(device_.stop_timer(context_, &seconds));
    return seconds;
  }

  [[nodiscard]] bool has_graphs() const { return device_.begin_graph != nullptr; }

  // Of what work() enqueues, with its arguments as they are now; nothing of it is done. Only
  // kernels, products and clears can be in a graph.
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

  // Bytes of the device's memory that are allocated now.
  [[nodiscard]] std::size_t allocated() const { return allocated_; }

  // Is called before the host waits for the device, which it does without a limit.
  void before_wait(std::function<void()> call) { before_wait_ = std::move(call); }

  // For what the module does besides (DeviceExchange): before something that the caller enqueues in
  // the stream of kernels itself.
  void begin_piece();

  [[nodiscard]] const dttrain_device& table() const { return device_; }

  [[nodiscard]] dttrain_context* context() const { return context_; }

  // For tests: is told what the host itself reads or writes of memory that the device uses.
  using Touched = std::function<void(const Access& access)>;

  void tell_touched(Touched touched) { touched_ = std::move(touched); }

 private:
  static constexpr std::size_t k_half = std::size_t{8} << 20;  // bytes

  // Pinned memory by which copies of one direction go.
  struct Staging {
    std::byte* at = nullptr;      // two halves
    std::array<Event, 2> copied;  // what was last in each of them
    std::size_t next = 0;

    [[nodiscard]] std::byte* half(std::size_t number) const { return at + number * k_half; }
  };

  static void check(const char* wrong) {
    if (wrong != nullptr) throw DeviceError(wrong);
  }

  // Of what cannot be in a graph.
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
  // That no kernel has followed yet:
  bool has_copies_ = false;    // to the device
  bool has_offloads_ = false;  // from it, after which kernels may write where they were read
  bool in_graph_ = false;
  std::size_t pieces_ = 0;  // of the graph that is being made
  std::vector<dttrain_graph*> graphs_;
  std::function<void()> before_wait_;
  Touched touched_;
};

}  // namespace dts::train::accelerator
