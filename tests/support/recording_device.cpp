// SPDX-License-Identifier: Apache-2.0
#include "tests/support/recording_device.hpp"

#include "tests/support/host_device.hpp"
#include "tests/support/race_recorder.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace recording_device {
namespace {

using namespace dts::train::accelerator;

constexpr std::size_t k_host = 0;
constexpr std::size_t k_queue = 1;

struct Recording {
  RaceRecorder recorder{2};
  std::map<std::byte*, std::size_t> memory;  // bytes of each allocation
  std::size_t waits = 0;
  std::size_t launches = 0;
  std::optional<std::size_t> left_out;
  std::vector<std::string> strays;
  std::vector<RaceRecorder::Clock> groups;  // after each group of messages
};

Recording g_recording;

const dttrain_device& host() {
  return *host_device::table();
}

// What is enqueued follows what the host has done.
void begin() {
  g_recording.recorder.wait(k_queue, g_recording.recorder.event(k_host));
}

void by_queue(const void* at, std::size_t bytes, bool writes, const std::string& what) {
  g_recording.recorder.access(k_queue, {at, bytes}, writes, what);
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

const char* copy(
    dttrain_context* context, void* to, const void* from, std::size_t bytes, const char* what) {
  begin();
  by_queue(from, bytes, false, what);
  by_queue(to, bytes, true, what);
  return host().to_device(context, to, from, bytes);
}

const char* to_device(dttrain_context* context, void* to, const void* from, std::size_t bytes) {
  return copy(context, to, from, bytes, "copy to the device");
}

const char* to_host(dttrain_context* context, void* to, const void* from, std::size_t bytes) {
  return copy(context, to, from, bytes, "copy to the host");
}

const char* clear(dttrain_context* context, void* at, std::size_t bytes) {
  begin();
  by_queue(at, bytes, true, "clear");
  return host().clear(context, at, bytes);
}

// All memory of the device.
using Image = std::map<std::byte*, std::vector<std::byte>>;

Image image() {
  Image made;
  for (const auto& [at, bytes] : g_recording.memory) made[at].assign(at, at + bytes);
  return made;
}

void put(const Image& image) {
  for (const auto& [at, bytes] : image) std::memcpy(at, bytes.data(), bytes.size());
}

// Where an access is in an image; nullptr if it is in no memory of the device.
std::byte* find(Image& image, const Access& access) {
  auto* const at = const_cast<std::byte*>(static_cast<const std::byte*>(access.at));
  auto found = image.upper_bound(at);
  if (found == image.begin()) return nullptr;
  --found;
  const auto offset = static_cast<std::size_t>(at - found->first);
  return offset + access.bytes > found->second.size() ? nullptr : found->second.data() + offset;
}

// What a kernel reads and writes is what it says: nothing else has changed, and with all other
// memory full of NaN it writes the same.
class Trial {
 public:
  Trial(std::string what, std::vector<Access> all, std::function<const char*()> run)
      : what_(std::move(what)), all_(std::move(all)), run_(std::move(run)) {}

  // Leaves what the kernel has written.
  const char* make() {
    Image before = image();
    if (const char* const wrong = run_()) return wrong;
    Image after = image();
    Image expected = before;
    copy(after, expected, true);
    if (expected != after) g_recording.strays.push_back(what_ + " writes elsewhere");
    for (auto& [at, bytes] : expected) std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
    copy(before, expected, false);
    put(expected);
    if (const char* const wrong = run_()) return wrong;
    Image again = image();
    copy(again, expected = after, true);
    if (expected != after) g_recording.strays.push_back(what_ + " reads elsewhere");
    put(after);
    return nullptr;
  }

 private:
  // What it accesses, or of that what it writes.
  void copy(Image& from, Image& to, bool written) {
    for (const Access& one : all_)
      if (one.writes || !written)
        if (std::byte* const at = find(from, one)) std::memcpy(find(to, one), at, one.bytes);
  }

  std::string what_;
  std::vector<Access> all_;
  std::function<const char*()> run_;
};

const char* launch(dttrain_context* context, std::uint32_t number, const void* arguments) {
  const std::string what = "kernel " + std::to_string(number);
  begin();
  std::vector<Access> all;
  Kernels::visit(number, arguments, [&](const auto& kernel) {
    kernel.accesses([&](const Access& access) { all.push_back(access); });
  });
  for (const Access& one : all) by_queue(one.at, one.bytes, one.writes, what);
  ++g_recording.launches;
  if (g_recording.left_out) return host().launch(context, number, arguments);
  (void)host().wait(context);  // what was enqueued before is not this kernel's
  return Trial(what,
               std::move(all),
               [&] {
                 const char* const wrong = host().launch(context, number, arguments);
                 return wrong == nullptr ? host().wait(context) : wrong;
               })
      .make();
}

void by_product(const void* values,
                std::size_t each,
                int rows,
                int columns,
                int pitch,
                std::int64_t stride,
                int count,
                bool writes) {
  for (int matrix = 0; matrix < count; ++matrix)
    for (int row = 0; row < rows; ++row) {
      const std::int64_t place = matrix * stride + std::int64_t{row} * pitch;
      by_queue(static_cast<const std::byte*>(values) + static_cast<std::size_t>(place) * each,
               static_cast<std::size_t>(columns) * each,
               writes,
               "product");
    }
}

void by_factor(const dttrain_product& product,
               const dttrain_factor& factor,
               int rows,
               int columns) {
  if (factor.is_transposed != 0) std::swap(rows, columns);
  by_product(factor.values,
             product.factors == DTTRAIN_BF16 ? sizeof(Bfloat) : sizeof(float),
             rows,
             columns,
             factor.pitch,
             factor.stride,
             product.count,
             false);
}

const char* multiply(dttrain_context* context, const dttrain_product* p) {
  begin();
  by_factor(*p, p->left, p->rows, p->inner);
  by_factor(*p, p->right, p->inner, p->columns);
  by_product(p->out, sizeof(float), p->rows, p->columns, p->pitch, p->stride, p->count, true);
  return host().multiply(context, p);
}

const char* wait(dttrain_context* context) {
  if (g_recording.left_out != g_recording.waits++)
    g_recording.recorder.wait(k_host, g_recording.recorder.event(k_queue));
  return host().wait(context);
}

const char* post(dttrain_context* context, const dttrain_message* messages, std::size_t count) {
  begin();
  for (std::size_t i = 0; i < count; ++i)
    by_queue(messages[i].at, messages[i].bytes, messages[i].is_sent == 0, "exchange");
  g_recording.groups.push_back(g_recording.recorder.event(k_queue));
  return host().exchange->post(context, messages, count);
}

// What the host is told of, it may use.
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

void leave_out_wait(std::size_t number) {
  g_recording.left_out = number;
}

void touch(const void* at, std::size_t bytes, bool writes) {
  g_recording.recorder.access(k_host, {at, bytes}, writes, "the host");
}

std::size_t waits() {
  return g_recording.waits;
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
