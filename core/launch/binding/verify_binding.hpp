// SPDX-License-Identifier: Apache-2.0
// How a run's ranks are bound at this moment, at a user's request.
#pragma once

#include "core/launch/binding/binding_report.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace dts::launch {

struct VerifiedBinding {
  BindingReport report;
  bool fresh = false;   // the ranks have just been read
  std::string because;  // why it is an older reading, otherwise
};

// The binding of the newest attempt. Its agent is asked to query the ranks, for at most `limit`; if
// that fails, because the run is over or the agent's host cannot be reached from here, the last
// reading is returned. Errc::not_found if the attempt never had one.
[[nodiscard]] Result<VerifiedBinding> verify_binding(
    const run::RunDirectory& run, std::chrono::milliseconds limit = std::chrono::seconds(20));

// When and how it was read, then in_lines() of the report.
[[nodiscard]] std::vector<std::string> in_lines(const VerifiedBinding& binding);

}  // namespace dts::launch
