// SPDX-License-Identifier: Apache-2.0
// Watches the run directory during an attempt: for new checkpoints, for a newer attempt, and for
// the disappearance of the directory. Single-threaded.
#pragma once

#include "core/launch/agent/runner/runner_settings.hpp"
#include "core/run/directory/presence.hpp"

#include <filesystem>
#include <string>

namespace dts::launch {

class RunDirectoryWatch {
 public:
  RunDirectoryWatch(const RunnerSettings& settings, Attempt& attempt, Time now)
      : settings_(settings), attempt_(attempt), next_content_(now), next_presence_(now) {}

  void poll(Time now);

  [[nodiscard]] bool is_there() { return presence_.is_present_now(); }

 private:
  void look_at_content(Time now);

  const RunnerSettings& settings_;
  Attempt& attempt_;
  run::Presence presence_{settings_.attempt.run};
  Time next_content_;
  Time next_presence_;
  std::string checkpoint_;  // the latest
  std::filesystem::file_time_type own_changed_ = std::filesystem::file_time_type::min();
};

}  // namespace dts::launch
