// SPDX-License-Identifier: Apache-2.0
// A context of the host device, and the faults and rates that a test gives it. If the device is a
// module in a process of its own, the environment sets them:
//   HOST_DEVICE_LACK      what is lacking (enum dttrain_lack)
//   HOST_DEVICE_GPUS      a word per device: rates of copies to it, from it, within it (counting
//                         each byte once) and from another device, in B/s, and of products, in
//                         FLOP/s: "25e9/20e9/1e12/5e11/1e10 ..."; see also CUDA_VISIBLE_DEVICES.
//                         Only copies and products advance its clock, so that a test knows all
//                         rates to the last digit. If unset: two devices, in real time
//   HOST_DEVICE_BREAK     FUNCTION@DEVICE=WHAT: on that device the function returns WHAT as its
//                         error, or, if WHAT is "hang", never returns
//   HOST_DEVICE_WRONG     DEVICE@N: the device's N-th launch, from 1, of the kernel that every
//                         training step launches leaves a wrong bit
//   HOST_DEVICE_APART     if set, no device can access another one's memory
//   HOST_DEVICE_SLOW_PRODUCTS  dttrain_facts::slow_products
//   HOST_DEVICE_LEFT      a file that gets, at exit, the numbers of what is still held: contexts;
//                         blocks of memory and pinned pages together
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

// The visible devices.
const std::vector<Simulated>& devices();

// The error that HOST_DEVICE_BREAK prescribes for a call; nullptr if there is none.
const char* broken(const char* function, const dttrain_context& context);

// Counts launches of a step's kernel. True for the one that must go wrong.
bool must_fail(dttrain_context& context);

// For HOST_DEVICE_LEFT: changes the number of held contexts and other objects.
void hold(int contexts, int objects);

// The last functions of the table:
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
  double clock = 0;  // s; of simulated devices
  double started = 0;
  int steps = 0;
  std::map<const void*, std::size_t> memory{};
  std::array<Stream, DTTRAIN_STREAMS> streams{};
  std::unique_ptr<dttrain_graph> open{};  // the graph that is being made
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

  // Enqueues the time that `amount` takes at `rate`, before the next work in the stream.
  void spend(int stream, double amount, double rate) {
    if (rate > 0) (void)enqueue(stream, [this, amount, rate] { clock += amount / rate; });
  }

  // Runs the pieces of a stream before `place`, including what they depend on.
  void run_until(int stream, std::uint64_t place) {
    Stream& one = of(stream);
    while (one.done < place) {
      const Piece piece = std::move(one.work.front());
      one.work.pop_front();
      ++one.done;
      piece();
    }
  }

  // The error of calls that are not allowed while a graph is made; NULL otherwise.
  [[nodiscard]] const char* in_graph() const {
    return open == nullptr ? nullptr : "called while a graph is made";
  }

  Stream& of(int stream) { return streams[static_cast<std::size_t>(stream)]; }
};
