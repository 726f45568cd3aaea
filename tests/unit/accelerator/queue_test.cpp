// SPDX-License-Identifier: Apache-2.0
// Copies through pinned memory, on a device that does nothing until something waits for it.
#include "tests/unit/accelerator/device.hpp"

using namespace dts::train::accelerator;

TEST_CASE("copies of any size arrive, though the host's memory changes right afterwards") {
  const auto queue = new_queue();
  // No floats, a few, exactly two halves of pinned memory, and two and a half.
  for (const std::size_t count : {0U, 5U, 4U << 20, 5000003U}) {
    CAPTURE(count);
    const Floats values = noise(count, count);
    float* const first = queue->allocate(count);
    float* const second = queue->allocate(count);
    float* const third = queue->allocate(count);
    Floats given = values;
    queue->to_device(first, given.data(), count);
    std::fill(given.begin(), given.end(), 0.0F);
    queue->to_device(third, given.data(), count);       // uses the same pinned memory
    queue->launch(Add<float>{{count}, second, first});  // second is all zeros
    Floats got = poisoned(count);
    queue->to_host(got.data(), second, count);
    CHECK(got == values);
  }
}
