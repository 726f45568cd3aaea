// SPDX-License-Identifier: Apache-2.0
// The streams, events and graphs of the host's device. Work is done when something waits for it and
// not before, and then no more of it than must be, so that a missing wait is seen.
#pragma once

#include "core/train/accelerator/dttrain_device.h"
#include "tests/support/host_exchange.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct dttrain_event {
  bool is_timed = false;
  int stream = DTTRAIN_COMPUTE;
  std::uint64_t place = 0;  // pieces of the stream before it
  std::chrono::steady_clock::time_point at;
};

struct dttrain_graph {
  std::vector<std::function<void()>> pieces;
};

struct dttrain_context {
  using Piece = std::function<void()>;

  struct Stream {
    std::deque<Piece> work;
    std::uint64_t done = 0;

    [[nodiscard]] std::uint64_t end() const { return done + work.size(); }
  };

  int device = 0;
  std::array<Stream, DTTRAIN_STREAMS> streams;
  std::unique_ptr<dttrain_graph> open;  // that is being made
  std::unique_ptr<host_device::HostLink> link;
  std::string wrong;

  const char* enqueue(int stream, Piece piece) {
    if (open == nullptr)
      of(stream).work.push_back(std::move(piece));
    else if (stream == DTTRAIN_COMPUTE)
      open->pieces.push_back(std::move(piece));
    else
      return in_graph();
    return nullptr;
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

namespace host_device {

// As the table has them:
const char* wait(dttrain_context* context);
const char* new_event(dttrain_context* context, int is_timed, dttrain_event** event);
void free_event(dttrain_context* context, dttrain_event* event);
const char* record(dttrain_context* context, dttrain_event* event, int stream);
const char* follow(dttrain_context* context, int stream, dttrain_event* event);
const char* wait_event(dttrain_context* context, dttrain_event* event);
const char* seconds_between(dttrain_context* context,
                            dttrain_event* first,
                            dttrain_event* last,
                            double* seconds);
const char* begin_graph(dttrain_context* context);
const char* end_graph(dttrain_context* context, dttrain_graph** graph);
const char* replay(dttrain_context* context, dttrain_graph* graph);
void free_graph(dttrain_context* context, dttrain_graph* graph);

}  // namespace host_device
