// SPDX-License-Identifier: Apache-2.0
// The streams, events and graphs of the host device. Work is done only when something waits for it,
// and no more of it than necessary, so that tests detect missing waits.
#pragma once

#include "core/train/accelerator/dttrain_device.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

struct dttrain_event {
  bool is_timed = false;
  int stream = DTTRAIN_COMPUTE;
  std::uint64_t place = 0;  // number of pieces of the stream before it
  std::chrono::steady_clock::time_point at;
};

struct dttrain_graph {
  std::vector<std::function<void()>> pieces;
};

namespace host_device {

// The functions of the table:
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
