// SPDX-License-Identifier: Apache-2.0
// A context of the host's device, and what a test wants it to be. As a module in a process of its
// own, the environment says that:
//   HOST_DEVICE_LACK      what is lacking (enum dttrain_lack)
//   HOST_DEVICE_GPUS      a device a word: the rates of copies to it, from it, within it, each byte
//                         counted once, from another device, and of its products, in B/s and
//                         FLOP/s: "25e9/20e9/1e12/5e11/1e10 ..."; CUDA_VISIBLE_DEVICES chooses. Its
//                         clock is moved by copies and products alone, so that a test knows the
//                         rates to the last digit. Without it there are two, and time is real.
//   HOST_DEVICE_BREAK     FUNCTION@DEVICE=WHAT: that is what it returns as what went wrong on the
//                         device; "hang": never
//   HOST_DEVICE_WRONG     DEVICE@N: its N-th launch of the kernel that all steps of training have
//                         leaves a wrong bit, from 1
//   HOST_DEVICE_APART     if set, no device reaches another one's memory
//   HOST_DEVICE_LEFT      a file that gets, at exit, what is held: contexts, and blocks of memory
//                         and pinned pages together
#pragma once

#include "core/train/accelerator/dttrain_device.h"
#include "tests/support/host_exchange.hpp"
#include "tests/support/host_streams.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace host_device {

struct Simulated {
  int number = 0;                                                  // among all, whatever is visible
  double to = 0, from = 0, within = 0, between = 0, products = 0;  // 0: real time
};

// Those that are visible.
const std::vector<Simulated>& devices();

// What HOST_DEVICE_BREAK makes of a call; nullptr if it is well.
const char* broken(const char* function, const dttrain_context& context);

// Whether this launch of a step's kernel is the one that goes wrong. Counts them.
bool goes_wrong(dttrain_context& context);

// For HOST_DEVICE_LEFT: of contexts, and of all else.
void hold(int contexts, int objects);

// The end of the table.
const char* copy(dttrain_context* context, void* to, const void* from, std::size_t bytes);
const char* copy_from(dttrain_context* context,
                      void* to,
                      dttrain_context* other,
                      const void* from,
                      std::size_t bytes);
const char* reach(dttrain_context* context, dttrain_context* other, int* is_direct);
const char* pin(dttrain_context* context, void* at, std::size_t bytes);
void unpin(dttrain_context* context, void* at);
const char* start_timer(dttrain_context* context);
const char* stop_timer(dttrain_context* context, double* seconds);

}  // namespace host_device

struct dttrain_context {
  using Piece = std::function<void()>;

  struct Stream {
    std::deque<Piece> work;
    std::uint64_t done = 0;

    [[nodiscard]] std::uint64_t end() const { return done + work.size(); }
  };

  host_device::Simulated gpu;
  double clock = 0;  // s, of what is simulated
  double started = 0;
  int steps = 0;
  std::map<const void*, std::size_t> memory{};
  std::array<Stream, DTTRAIN_STREAMS> streams{};
  std::unique_ptr<dttrain_graph> open{};  // that is being made
  std::unique_ptr<host_device::HostLink> link{};
  std::string wrong{};

  const char* enqueue(int stream, Piece piece) {
    if (open == nullptr)
      of(stream).work.push_back(std::move(piece));
    else if (stream == DTTRAIN_COMPUTE)
      open->pieces.push_back(std::move(piece));
    else
      return in_graph();
    return nullptr;
  }

  // Of `amount` at a rate, before what is enqueued in the stream next.
  void spend(int stream, double amount, double rate) {
    if (rate > 0) (void)enqueue(stream, [this, amount, rate] { clock += amount / rate; });
  }

  // Does the first pieces of a stream, and what they follow.
  void run_until(int stream, std::uint64_t place) {
    Stream& one = of(stream);
    while (one.done < place) {
      const Piece piece = std::move(one.work.front());
      one.work.pop_front();
      ++one.done;
      piece();
    }
  }

  // What is said of calls while a graph is made; NULL otherwise.
  [[nodiscard]] const char* in_graph() const {
    return open == nullptr ? nullptr : "called while a graph is made";
  }

  Stream& of(int stream) { return streams[static_cast<std::size_t>(stream)]; }
};
