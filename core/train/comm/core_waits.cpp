// SPDX-License-Identifier: Apache-2.0
#include "core/train/comm/core_waits.hpp"

#include "core/base/os/process_table.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace dts::train {
namespace {

std::uint64_t waited_by(pid_t pid) {
  std::uint64_t sum = 0;
  std::error_code none;
  for (const auto& thread : std::filesystem::directory_iterator(proc_path(pid, "task"), none)) {
    std::uint64_t ran = 0;
    std::uint64_t waited = 0;
    if (std::ifstream(thread.path() / "schedstat") >> ran >> waited) sum += waited;
  }
  return sum;
}

}  // namespace

CoreWaits::CoreWaits(std::vector<pid_t> ranks)
    : ranks_(std::move(ranks)), waited_(ranks_.size()), last_(Clock::now()) {
  std::transform(ranks_.begin(), ranks_.end(), waited_.begin(), waited_by);
}

std::chrono::nanoseconds CoreWaits::since_last() {
  std::uint64_t longest = 0;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const std::uint64_t now = waited_by(ranks_[i]);
    if (now > waited_[i]) longest = std::max(longest, now - waited_[i]);  // a thread may have ended
    waited_[i] = now;
  }
  const Clock::time_point before = std::exchange(last_, Clock::now());
  return std::min(std::chrono::nanoseconds(longest), std::chrono::nanoseconds(last_ - before));
}

}  // namespace dts::train
