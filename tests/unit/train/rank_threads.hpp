// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of this process and communicate through its memory.
#pragma once

#include "core/train/comm/group.hpp"
#include "core/train/comm/shm_transport.hpp"
#include "tests/support/sanitized.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <iterator>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace dts::train {

struct Lost : std::runtime_error {
  explicit Lost(const dts::Error& error)
      : std::runtime_error(error.message + "\n" + error.hint), code(error.code) {}

  dts::Errc code;
};

inline Group::Settings settings(std::chrono::milliseconds timeout) {
  return {timeout, [](const dts::Error& error) { throw Lost(error); }};
}

inline std::vector<std::shared_ptr<Transport>> transports(int ranks) {
  std::vector<std::unique_ptr<ShmTransport>> made;
  std::vector<SharedMemoryName> names;
  for (int rank = 0; rank < ranks; ++rank) {
    auto one = ShmTransport::create(rank, ranks);
    REQUIRE(one);
    names.push_back((*one)->name());
    made.push_back(*std::move(one));
  }
  for (auto& one : made) REQUIRE(one->connect(names));
  return {std::make_move_iterator(made.begin()), std::make_move_iterator(made.end())};
}

inline Group group_of(std::shared_ptr<Transport> transport,
                      int ranks,
                      int rank,
                      std::chrono::milliseconds timeout) {
  std::vector<int> members(static_cast<std::size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  return {std::move(transport), std::move(members), rank, settings(timeout)};
}

// Runs each rank's `work` on a thread. Returns what each returned, or threw as Lost.
template <class Work>
std::vector<std::string> on_threads(const std::vector<std::shared_ptr<Transport>>& between,
                                    std::chrono::milliseconds timeout,
                                    const Work& work) {
  const auto ranks = static_cast<int>(between.size());
  std::vector<std::string> ends(between.size());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      const auto place = static_cast<std::size_t>(rank);
      Group group = group_of(between[place], ranks, rank, timeout);
      try {
        ends[place] = work(group);
      } catch (const Lost& lost) {
        ends[place] = (lost.code == dts::Errc::timed_out ? "timed out: " : "mismatch: ") +
                      std::string(lost.what());
      }
    });
  for (std::thread& thread : threads) thread.join();
  return ends;
}

template <class Work>
std::vector<std::string> on_threads(int ranks,
                                    std::chrono::milliseconds timeout,
                                    const Work& work) {
  return on_threads(transports(ranks), timeout, work);
}

inline constexpr std::chrono::milliseconds k_long(60000);

// Numbers of ranks whose sums are compared. Five take minutes with sanitizers.
inline const std::vector<int> k_ranks =
    dts::tests::k_sanitized ? std::vector{2, 3} : std::vector{2, 3, 5};

}  // namespace dts::train
