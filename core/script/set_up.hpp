// SPDX-License-Identifier: Apache-2.0
// A node's set-up as a bash script, from fragments in templates/setup/, one per option. Pure.
#pragma once

#include "core/spec/job_spec.hpp"

#include <functional>
#include <optional>
#include <string>

namespace dts::script {

// A site's replacement for the fragment of that name ("module", "conda", "venv"); nullopt: use
// ours.
using SetUpFragment = std::function<std::optional<std::string>(const std::string& name)>;

// Run as `bash -c SCRIPT dtsubmit-setup FD`. Writes to FD, separated by NULs, either "done" and the
// environment, or "failed", the step, the command, its location and its exit code. Empty if the job
// requests no set-up.
[[nodiscard]] std::string set_up_script(const spec::JobSpec& spec, const SetUpFragment& site);

// Run on a node after its programs have ended; empty: nothing to do.
[[nodiscard]] std::string tear_down_script(const spec::JobSpec& spec);

}  // namespace dts::script
