// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/queue/queue.hpp"

#include <algorithm>
#include <cstring>

namespace dts::train::accelerator {

Queue::Queue(const dttrain_device& device, dttrain_context* context)
    : device_(device), context_(context), streams_(device, context) {}

Queue::~Queue() {
  (void)device_.wait(context_);
  for (const auto& [at, bytes] : memory_) free_memory(at);
  for (void* const at : pinned_) device_.release_host(context_, at);
  for (const Staging* const one : {&in_, &out_})
    if (one->at != nullptr) device_.release_host(context_, one->at);
  for (dttrain_graph* const graph : graphs_) device_.free_graph(context_, graph);
  streams_.end();
  device_.close(context_);
}

void Queue::forbid(const char* what) const {
  if (in_graph_)
    throw DeviceError(std::string(what) +
                      " cannot be in a graph: only kernels, products and clears can");
}

void Queue::free_memory(void* at) {
  touch(at, 1, true);
  device_.release(context_, at);
}

void Queue::touch(const void* at, std::size_t bytes, bool writes) {
  if (touched_) touched_({at, bytes, writes});
}

dttrain_facts Queue::facts() {
  dttrain_facts facts{};
  check(device_.facts(context_, &facts));
  return facts;
}

void* Queue::allocate_bytes(std::size_t bytes) {
  forbid("an allocation");
  void* at = nullptr;
  const std::size_t room = std::max<std::size_t>(bytes, 1);
  if (const char* const wrong = device_.allocate(context_, room, &at))
    throw DeviceError(std::string(wrong) + ", " + std::to_string(room) + " bytes more than the " +
                      std::to_string(allocated_) + " before");
  memory_[at] = room;
  allocated_ += room;
  streams_.enqueued(Stream::compute);  // follows no copy: none can use this memory yet
  check(device_.clear(context_, at, room));
  return at;
}

float* Queue::allocate_pinned(std::size_t count) {
  forbid("an allocation");
  void* at = nullptr;
  check(device_.allocate_host(context_, count * sizeof(float), &at));
  pinned_.push_back(at);
  return static_cast<float*>(at);
}

void Queue::offload(float* pinned, const float* from, std::size_t count) {
  forbid("a copy to the host");
  follow_copies();
  streams_.follow(Stream::copy_out, Stream::compute);
  check(device_.to_host(context_, pinned, from, count * sizeof(float)));
  streams_.enqueued(Stream::copy_out);
  has_offloads_ = true;
}

void Queue::reload(float* to, const float* pinned, std::size_t count) {
  forbid("a copy to the device");
  streams_.follow(Stream::copy_in, Stream::compute);
  streams_.follow(Stream::copy_in, Stream::copy_out);
  check(device_.to_device(context_, to, pinned, count * sizeof(float)));
  streams_.enqueued(Stream::copy_in);
  has_copies_ = true;
}

void Queue::release(void* at) {
  wait();
  allocated_ -= memory_[at];
  memory_.erase(at);
  free_memory(at);
}

// Called at the latest by the next piece, so that it follows several copies at once.
void Queue::follow_copies() {
  if (std::exchange(has_copies_, false)) streams_.follow(Stream::compute, Stream::copy_in);
  if (std::exchange(has_offloads_, false)) streams_.follow(Stream::compute, Stream::copy_out);
}

void Queue::begin_piece() {
  if (in_graph_) {
    ++pieces_;
    return;
  }
  follow_copies();
  streams_.enqueued(Stream::compute);
}

void Queue::begin_graph() {
  forbid("a graph");
  if (!has_graphs()) throw DeviceError("this kind of device has no graphs");
  check(device_.begin_graph(context_));
  in_graph_ = true;
  pieces_ = 0;
}

Graph Queue::end_graph() {
  in_graph_ = false;
  Graph made{nullptr, pieces_};
  check(device_.end_graph(context_, &made.at));
  graphs_.push_back(made.at);
  return made;
}

// Ignores errors: the one that led here says more.
void Queue::drop_graph() {
  in_graph_ = false;
  dttrain_graph* dropped = nullptr;
  if (device_.end_graph(context_, &dropped) == nullptr) graphs_.push_back(dropped);
}

void Queue::await(const Event& event) {
  if (streams_.is_known(event)) return;
  if (before_wait_) before_wait_();
  streams_.wait(event);
}

void Queue::make_staging() {
  if (out_.at != nullptr) return;
  for (Staging* const one : {&in_, &out_}) {
    void* at = nullptr;
    check(device_.allocate_host(context_, 2 * k_half, &at));
    one->at = static_cast<std::byte*>(at);
    for (Event& event : one->copied) event = new_event();
  }
}

// Fills one half while the device reads the other.
void Queue::copy_to_device(void* to, const void* from, std::size_t bytes) {
  make_staging();
  for (std::size_t at = 0; at < bytes; at += k_half) {
    Event& copied = in_.copied[in_.next];
    std::byte* const by = in_.half(in_.next);
    const std::size_t part = std::min(k_half, bytes - at);
    await(copied);
    touch(by, part, true);
    std::memcpy(by, static_cast<const std::byte*>(from) + at, part);
    check(device_.to_device(context_, static_cast<std::byte*>(to) + at, by, part));
    streams_.enqueued(Stream::copy_in);
    streams_.record(copied, Stream::copy_in);
    in_.next ^= 1U;
    has_copies_ = true;
  }
}

// Reads one half while the device fills the other.
void Queue::copy_to_host(void* to, const void* from, std::size_t bytes) {
  const auto size_at = [&](std::size_t at) { return std::min(k_half, bytes - at); };
  const auto begin = [&](std::size_t at) {
    const std::size_t half = at / k_half % 2;
    check(device_.to_host(
        context_, out_.half(half), static_cast<const std::byte*>(from) + at, size_at(at)));
    streams_.enqueued(Stream::copy_out);
    streams_.record(out_.copied[half], Stream::copy_out);
  };
  make_staging();
  for (std::size_t at = 0; at < std::min(bytes, 2 * k_half); at += k_half) begin(at);
  for (std::size_t at = 0; at < bytes; at += k_half) {
    const std::size_t half = at / k_half % 2;
    await(out_.copied[half]);
    touch(out_.half(half), size_at(at), false);
    std::memcpy(static_cast<std::byte*>(to) + at, out_.half(half), size_at(at));
    if (at + 2 * k_half < bytes) begin(at + 2 * k_half);
  }
}

}  // namespace dts::train::accelerator
