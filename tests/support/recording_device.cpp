// SPDX-License-Identifier: Apache-2.0
#include "tests/support/recording_device.hpp"

#include "tests/support/host_device.hpp"
#include "tests/support/kernel_trial.hpp"
#include "tests/support/race_recorder.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace recording_device {
namespace {

using namespace dts::train::accelerator;

constexpr std::size_t k_host = 0;

// The recorder's number of a stream; the host has k_host.
constexpr std::size_t actor(int stream) {
  return 1 + static_cast<std::size_t>(stream);
}

// Records the accesses of a piece of work.
using Record = std::function<void()>;

struct Recording {
  RaceRecorder recorder{1 + DTTRAIN_STREAMS};
  Memory memory;
  std::map<const dttrain_event*, RaceRecorder::Clock> events;
  std::map<const dttrain_graph*, std::vector<Record>> graphs;
  bool in_graph = false;
  std::vector<Record> open;  // for the graph that is being made
  std::size_t waits = 0;
  std::size_t launches = 0;
  std::size_t replays = 0;
  std::optional<std::size_t> left_out;
  std::vector<std::string> strays;
  std::vector<RaceRecorder::Clock> groups;  // after each group of messages
};

Recording g_recording;

const dttrain_device& host() {
  return *host_device::table();
}

// Enqueued work follows everything that the host has done.
void begin(int stream) {
  g_recording.recorder.wait(actor(stream), g_recording.recorder.event(k_host));
}

void by_stream(
    int stream, const void* at, std::size_t bytes, bool writes, const std::string& what) {
  g_recording.recorder.access(actor(stream), {at, bytes}, writes, what);
}

void by_kernel(const std::vector<Access>& all, const std::string& what) {
  for (const Access& one : all) by_stream(DTTRAIN_COMPUTE, one.at, one.bytes, one.writes, what);
}

// Records kernels and the like, now or whenever the graph that is being made is replayed.
void compute(Record record) {
  if (g_recording.in_graph) return g_recording.open.push_back(std::move(record));
  begin(DTTRAIN_COMPUTE);
  record();
}

// Whether this wait counts as an order; counts all waits.
bool orders() {
  return g_recording.left_out != g_recording.waits++;
}

const char* allocate(dttrain_context* context, std::size_t bytes, void** at) {
  const char* const wrong = host().allocate(context, bytes, at);
  if (wrong != nullptr) return wrong;
  g_recording.memory[static_cast<std::byte*>(*at)] = bytes;
  g_recording.recorder.access(k_host, {*at, bytes}, true, "allocation");  // perhaps of freed memory
  return nullptr;
}

const char* allocate_host(dttrain_context* context, std::size_t bytes, void** at) {
  const char* const wrong = host().allocate_host(context, bytes, at);
  if (wrong == nullptr) g_recording.recorder.access(k_host, {*at, bytes}, true, "allocation");
  return wrong;
}

void release(dttrain_context* context, void* at) {
  g_recording.memory.erase(static_cast<std::byte*>(at));
  host().release(context, at);
}

void copied(int stream, void* to, const void* from, std::size_t bytes, const std::string& what) {
  begin(stream);
  by_stream(stream, from, bytes, false, what);
  by_stream(stream, to, bytes, true, what);
}

const char* to_device(dttrain_context* context, void* to, const void* from, std::size_t bytes) {
  copied(DTTRAIN_COPY_IN, to, from, bytes, "copy to the device");
  return host().to_device(context, to, from, bytes);
}

const char* to_host(dttrain_context* context, void* to, const void* from, std::size_t bytes) {
  copied(DTTRAIN_COPY_OUT, to, from, bytes, "copy to the host");
  return host().to_host(context, to, from, bytes);
}

const char* clear(dttrain_context* context, void* at, std::size_t bytes) {
  compute([=] { by_stream(DTTRAIN_COMPUTE, at, bytes, true, "clear"); });
  return host().clear(context, at, bytes);
}

const char* launch(dttrain_context* context, std::uint32_t number, const void* arguments) {
  const std::string what = "kernel " + std::to_string(number);
  std::vector<Access> all;
  Kernels::visit(number, arguments, [&](const auto& kernel) {
    kernel.accesses([&](const Access& access) { all.push_back(access); });
  });
  compute([=] { by_kernel(all, what); });
  ++g_recording.launches;
  const auto run = [&] { return host().launch(context, number, arguments); };
  if (g_recording.left_out || g_recording.in_graph) return run();
  (void)host().wait(context);  // earlier work is not this kernel's
  return try_kernel(
      what,
      g_recording.memory,
      all,
      [&] {
        const char* const wrong = run();
        return wrong == nullptr ? host().wait(context) : wrong;
      },
      g_recording.strays);
}

const char* multiply(dttrain_context* context, const dttrain_product* product) {
  compute([all = accesses_of(*product)] { by_kernel(all, "product"); });
  return host().multiply(context, product);
}

const char* wait(dttrain_context* context) {
  if (orders())
    for (int stream = 0; stream < DTTRAIN_STREAMS; ++stream)
      g_recording.recorder.wait(k_host, g_recording.recorder.event(actor(stream)));
  return host().wait(context);
}

const char* record(dttrain_context* context, dttrain_event* event, int stream) {
  begin(stream);
  g_recording.events[event] = g_recording.recorder.event(actor(stream));
  return host().record(context, event, stream);
}

const char* follow(dttrain_context* context, int stream, dttrain_event* event) {
  begin(stream);
  if (orders()) g_recording.recorder.wait(actor(stream), g_recording.events[event]);
  return host().follow(context, stream, event);
}

const char* wait_event(dttrain_context* context, dttrain_event* event) {
  if (orders()) g_recording.recorder.wait(k_host, g_recording.events[event]);
  return host().wait_event(context, event);
}

const char* begin_graph(dttrain_context* context) {
  g_recording.in_graph = true;
  g_recording.open.clear();
  return host().begin_graph(context);
}

const char* end_graph(dttrain_context* context, dttrain_graph** graph) {
  g_recording.in_graph = false;
  const char* const wrong = host().end_graph(context, graph);
  g_recording.graphs[*graph] = std::move(g_recording.open);
  return wrong;
}

const char* replay(dttrain_context* context, dttrain_graph* graph) {
  ++g_recording.replays;
  begin(DTTRAIN_COMPUTE);
  for (const Record& record : g_recording.graphs[graph]) record();
  return host().replay(context, graph);
}

const char* post(dttrain_context* context, const dttrain_message* messages, std::size_t count) {
  begin(DTTRAIN_COMPUTE);
  for (std::size_t i = 0; i < count; ++i)
    by_stream(
        DTTRAIN_COMPUTE, messages[i].at, messages[i].bytes, messages[i].is_sent == 0, "exchange");
  g_recording.groups.push_back(g_recording.recorder.event(actor(DTTRAIN_COMPUTE)));
  return host().exchange->post(context, messages, count);
}

// After progress() has reported a group, the host may use its memory.
const char* progress(dttrain_context* context, dttrain_progress* now) {
  const char* const wrong = host().exchange->progress(context, now);
  for (std::size_t i = 0; i < now->ended; ++i)
    g_recording.recorder.wait(k_host, g_recording.groups[i]);
  return wrong;
}

const dttrain_exchange* exchange() {
  static const dttrain_exchange table = [] {
    dttrain_exchange made = *host().exchange;
    made.post = post;
    made.progress = progress;
    return made;
  }();
  return &table;
}

dttrain_device made_table() {
  dttrain_device table = host();
  table.allocate = allocate;
  table.allocate_host = allocate_host;
  table.release = release;
  table.release_host = release;
  table.to_device = to_device;
  table.to_host = to_host;
  table.clear = clear;
  table.launch = launch;
  table.multiply = multiply;
  table.wait = wait;
  table.record = record;
  table.follow = follow;
  table.wait_event = wait_event;
  table.begin_graph = begin_graph;
  table.end_graph = end_graph;
  table.replay = replay;
  table.exchange = exchange();
  return table;
}

}  // namespace

std::unique_ptr<Queue> new_queue() {
  static const dttrain_device table = made_table();
  g_recording = {};
  dttrain_answer answer{};
  auto queue = std::make_unique<Queue>(table, table.open(0, &answer));
  queue->tell_touched([](const Access& access) {
    g_recording.recorder.access(k_host, {access.at, access.bytes}, access.writes, "the host");
  });
  return queue;
}

void skip_wait(std::size_t number) {
  g_recording.left_out = number;
}

void touch(const void* at, std::size_t bytes, bool writes) {
  g_recording.recorder.access(k_host, {at, bytes}, writes, "the host");
}

std::size_t waits() {
  return g_recording.waits;
}

std::size_t replays() {
  return g_recording.replays;
}

std::size_t launches() {
  return g_recording.launches;
}

std::vector<std::string> races() {
  return g_recording.recorder.races();
}

std::vector<std::string> strays() {
  return g_recording.strays;
}

}  // namespace recording_device
