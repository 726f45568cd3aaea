// SPDX-License-Identifier: Apache-2.0
// The exchange of a module with a single rank, which sends to itself: all that one device can test.
#include "tests/gpu/device_cases.hpp"

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

namespace device_check {
namespace {

using namespace dts::train::accelerator;

constexpr std::chrono::seconds k_limit(60);

void check(const char* wrong) {
  if (wrong != nullptr) throw DeviceError(wrong);
}

// Polls the link's progress until is_done(progress).
template <class Done>
void await(const Queue& queue, const char* what, const Done& is_done) {
  const auto until = std::chrono::steady_clock::now() + k_limit;
  for (dttrain_progress now{}; !is_done(now);) {
    check(queue.table().exchange->progress(queue.context(), &now));
    if (std::chrono::steady_clock::now() > until) throw DeviceError(std::string(what) + " hangs");
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

// Sends and receives two messages of different sizes in one group; `number` counts groups.
bool sends_to_itself(Queue& queue, std::uint64_t number, std::size_t count) {
  const Floats values = noise(count + 5, number);
  float* const from = queue.allocate(count + 5);
  float* const to = queue.allocate(count + 5);
  queue.to_device(from, values.data(), count + 5);
  const std::size_t bytes = count * sizeof(float);
  const std::size_t rest = 5 * sizeof(float);
  const dttrain_message messages[] = {
      {from, bytes, 0, 1}, {from + count, rest, 0, 1}, {to, bytes, 0, 0}, {to + count, rest, 0, 0}};
  check(queue.table().exchange->post(queue.context(), messages, 4));
  await(queue, "a group", [](const auto& now) { return now.is_idle != 0; });
  queue.launch(Add<float>{{count + 5}, to, from});  // follows the messages
  await(queue, "the end of a group", [&](const auto& now) { return now.ended >= number; });
  Floats came(count + 5);
  queue.to_host(came.data(), to, count + 5);
  for (std::size_t i = 0; i < came.size(); ++i)
    if (came[i] != values[i] + values[i]) return false;
  return true;
}

}  // namespace

int check_link(Queue& queue) {
  const dttrain_exchange* const link = queue.table().exchange;
  dttrain_link_facts facts{};
  const char* const lack =
      link == nullptr ? "built without nccl.h" : link->find(queue.context(), &facts);
  if (lack != nullptr) {
    std::printf("{\"check\": \"exchange\", \"library\": null, \"lack\": \"%s\", \"ok\": true}\n",
                lack);
    return 0;
  }
  bool is_right = true;
  std::string what;
  try {
    unsigned char id[DTTRAIN_LINK_ID_BYTES];
    check(link->make_id(queue.context(), id));
    check(link->join(queue.context(), id, 1, 0, 0));
    await(queue, "linking", [](const auto& now) { return now.is_idle != 0; });
    std::uint64_t number = 0;
    for (const std::size_t count : {1U, 1000U, 3000001U, 1000U})
      is_right = is_right && sends_to_itself(queue, ++number, count);
    check(link->leave(queue.context()));
    await(queue, "leaving", [](const auto& now) { return now.is_idle != 0; });
    if (!is_right) what = "other values came";
  } catch (const DeviceError& e) {
    is_right = false;
    what = e.what();
    link->abort(queue.context());
  }
  std::printf(
      "{\"check\": \"exchange\", \"library\": \"%s\", \"path\": \"%s\", \"shares_devices\": %s, "
      "\"wrong\": \"%s\", \"ok\": %s}\n",
      facts.library,
      facts.path,
      facts.shares_devices != 0 ? "true" : "false",
      in_json(what).c_str(),
      is_right ? "true" : "false");
  return is_right ? 0 : 1;
}

}  // namespace device_check
