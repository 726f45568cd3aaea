// SPDX-License-Identifier: Apache-2.0
// The properties that a test gives to host devices, and the functions of their table for
// measurements.
#include "tests/support/host_context.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace host_device {
namespace {

std::vector<Simulated> all_devices() {
  const char* const words = std::getenv("HOST_DEVICE_GPUS");
  if (words == nullptr) return {{0}, {1}};
  std::vector<Simulated> all;
  std::istringstream text(words);
  for (std::string word; text >> word;) {
    Simulated gpu{static_cast<int>(all.size())};
    if (std::sscanf(word.c_str(),
                    "%lf/%lf/%lf/%lf/%lf",
                    &gpu.to,
                    &gpu.from,
                    &gpu.within,
                    &gpu.between,
                    &gpu.products) == 5)
      all.push_back(gpu);
  }
  return all;
}

std::vector<Simulated> visible_devices() {
  const std::vector<Simulated> all = all_devices();
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr || std::getenv("HOST_DEVICE_GPUS") == nullptr) return all;
  std::vector<Simulated> chosen;
  std::istringstream numbers(visible);
  for (std::string number; std::getline(numbers, number, ',');)
    chosen.push_back(all.at(std::stoul(number)));
  return chosen;
}

// Counts what is held; written at exit.
struct Held {
  std::atomic<int> contexts = 0;
  std::atomic<int> objects = 0;

  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  ~Held() {
    const char* const path = std::getenv("HOST_DEVICE_LEFT");
    std::FILE* const file = path != nullptr ? std::fopen(path, "w") : nullptr;
    if (file == nullptr) return;
    std::fprintf(file, "%d contexts, %d objects\n", contexts.load(), objects.load());
    std::fclose(file);
  }
};

Held g_held;

// If the variable begins with `start`, "NAME@DEVICE=" or "DEVICE@", the rest of it, otherwise
// nullptr.
const char* after(const char* variable, const std::string& start) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || std::strncmp(text, start.c_str(), start.size()) != 0) return nullptr;
  return text + start.size();
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The device's simulated clock, or real time.
double clock_of(const dttrain_context& context) {
  return context.gpu.to > 0 ? context.clock : now();
}

// Whether the range is device memory: device copies may use nothing else.
bool holds(const dttrain_context& context, const void* at, std::size_t bytes) {
  auto block = context.memory.upper_bound(at);
  if (block == context.memory.begin()) return false;
  --block;
  const auto offset = static_cast<std::size_t>(static_cast<const char*>(at) -
                                               static_cast<const char*>(block->first));
  return offset + bytes <= block->second;
}

}  // namespace

const std::vector<Simulated>& devices() {
  static const std::vector<Simulated> found = visible_devices();
  return found;
}

const char* broken(const char* function, const dttrain_context& context) {
  const char* const what = after(
      "HOST_DEVICE_BREAK", std::string(function) + "@" + std::to_string(context.gpu.number) + "=");
  while (what != nullptr && std::strcmp(what, "hang") == 0) ::pause();
  return what;
}

bool must_fail(dttrain_context& context) {
  const char* const when = after("HOST_DEVICE_WRONG", std::to_string(context.gpu.number) + "@");
  return when != nullptr && ++context.steps == std::atoi(when);
}

void hold(int contexts, int objects) {
  g_held.contexts += contexts;
  g_held.objects += objects;
}

const char* copy(dttrain_context* context, void* to, const void* from, std::size_t bytes) {
  if (const char* const wrong = broken("copy", *context)) return wrong;
  if (!holds(*context, to, bytes) || !holds(*context, from, bytes))
    return "no memory of the device";
  context->spend(DTTRAIN_COMPUTE, static_cast<double>(bytes), context->gpu.within);
  return context->enqueue(DTTRAIN_COMPUTE, [=] { std::memcpy(to, from, bytes); });
}

const char* copy_from(dttrain_context* context,
                      void* to,
                      dttrain_context* other,
                      const void* from,
                      std::size_t bytes) {
  if (const char* const wrong = broken("copy_from", *context)) return wrong;
  if (!holds(*context, to, bytes) || !holds(*other, from, bytes)) return "no memory of the device";
  context->spend(DTTRAIN_COMPUTE, static_cast<double>(bytes), context->gpu.between);
  return context->enqueue(DTTRAIN_COMPUTE, [=] { std::memcpy(to, from, bytes); });
}

const char* reach(dttrain_context* context, dttrain_context* /*other*/, int* is_direct) {
  *is_direct = std::getenv("HOST_DEVICE_APART") == nullptr ? 1 : 0;
  return broken("reach", *context);
}

const char* pin(dttrain_context* context, void* /*at*/, std::size_t /*bytes*/) {
  if (const char* const wrong = broken("pin", *context)) return wrong;
  hold(0, 1);
  return nullptr;
}

void unpin(dttrain_context* /*context*/, void* /*at*/) {
  hold(0, -1);
}

const char* start_timer(dttrain_context* context) {
  if (const char* const wrong = wait(context)) return wrong;
  context->started = clock_of(*context);
  return broken("start_timer", *context);
}

const char* stop_timer(dttrain_context* context, double* seconds) {
  if (const char* const wrong = wait(context)) return wrong;
  *seconds = clock_of(*context) - context->started;
  return broken("stop_timer", *context);
}

}  // namespace host_device
