// SPDX-License-Identifier: Apache-2.0
// Reads how a run's ranks are bound at the moment, at a user's request.
#pragma once

#include "core/launch/binding/binding_report.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace dts::launch {

struct VerifiedBinding {
  BindingReport report;
  bool fresh = false;   // the ranks have just read it
  std::string because;  // otherwise, why it is an older reading
};

// The binding of the newest attempt. Its agent is asked to query the ranks, which may take up to
// `limit`. If that fails, because the run is over or the agent's host cannot be reached from here,
// the last reading is returned. Errc::not_found if the attempt has none.
[[nodiscard]] Result<VerifiedBinding> verify_binding(
    const run::RunDirectory& run, std::chrono::milliseconds limit = std::chrono::seconds(20));

// When and how the binding was read, followed by the lines of its report.
[[nodiscard]] std::vector<std::string> in_lines(const VerifiedBinding& binding);

}  // namespace dts::launch
