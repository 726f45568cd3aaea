// SPDX-License-Identifier: Apache-2.0
// The sampler is a permutation for every size, and differs for every epoch and seed.
#include "core/train/data/sampler.hpp"

#include <doctest/doctest.h>

#include <vector>

using dts::train::sample_index;
using dts::train::SampleOrder;

TEST_CASE("every epoch visits every sample exactly once") {
  for (const std::uint64_t count :
       {1ULL, 2ULL, 3ULL, 5ULL, 16ULL, 17ULL, 1000ULL, 4096ULL, 60000ULL})
    for (const std::uint64_t epoch : {0ULL, 1ULL, 77ULL}) {
      std::vector<int> visits(count, 0);
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t sample = sample_index(42, epoch, i, count);
        REQUIRE(sample < count);
        ++visits[sample];
      }
      for (const int visit : visits) REQUIRE(visit == 1);
    }
}

TEST_CASE("the order differs between epochs and between seeds, and is the same when asked again") {
  int same_epoch = 0;
  int same_seed = 0;
  int again = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t sample = sample_index(1, 0, i, 60000);
    same_epoch += sample == sample_index(1, 1, i, 60000) ? 1 : 0;
    same_seed += sample == sample_index(2, 0, i, 60000) ? 1 : 0;
    again += sample == sample_index(1, 0, i, 60000) ? 1 : 0;
  }
  CHECK(same_epoch < 5);
  CHECK(same_seed < 5);
  CHECK(again == 1000);
}

TEST_CASE("the first samples come from all over the set") {
  double sum = 0;
  for (std::uint64_t i = 0; i < 10000; ++i)
    sum += static_cast<double>(sample_index(7, 0, i, 60000));
  CHECK(sum / 10000 == doctest::Approx(30000).epsilon(0.03));
}

TEST_CASE("without dropped tails, steps go through one epoch after the other") {
  const SampleOrder order{3, 10, 4, false};
  std::vector<int> visits(10, 0);
  for (std::uint64_t drawn = 0; drawn < 30; ++drawn) {
    const std::uint64_t sample = order.at(drawn / 4, drawn % 4);
    CHECK(sample == sample_index(3, drawn / 10, drawn % 10, 10));
    CHECK(order.epoch_of(drawn / 4, drawn % 4) == drawn / 10);
    ++visits[sample];
  }
  for (const int visit : visits) CHECK(visit == 3);
  CHECK(order.steps_of(1) == 3);
  CHECK(order.steps_of(2) == 5);
  const SampleOrder small{3, 2, 5, false};  // a batch has more than two epochs
  CHECK(small.at(0, 4) == sample_index(3, 2, 0, 2));
}

TEST_CASE("with dropped tails, every epoch begins with a batch") {
  const SampleOrder order{3, 10, 4, true};
  CHECK(order.steps_of(3) == 6);
  CHECK(order.at(2, 1) == sample_index(3, 1, 1, 10));
  CHECK(order.at(5, 3) == sample_index(3, 2, 7, 10));
  CHECK(order.epoch_of(5, 3) == 2);
}
