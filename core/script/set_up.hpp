// SPDX-License-Identifier: Apache-2.0
// The set-up of a node as a bash script: fragments of templates/setup/, one for each option. Pure.
#pragma once

#include "core/spec/job_spec.hpp"

#include <functional>
#include <optional>
#include <string>

namespace dts::script {

// A site's own text for the fragment of that name ("module", "conda", "venv"); nullopt: ours.
using SetUpFragment = std::function<std::optional<std::string>(const std::string& name)>;

// Run as `bash -c SCRIPT dtsubmit-setup FD`. Writes to FD, separated by NULs, either "done" and the
// environment, or "failed", the step, the command, where it is and its exit code. Empty where the
// job asks for no set-up.
[[nodiscard]] std::string set_up_script(const spec::JobSpec& spec, const SetUpFragment& site);

// What is run on a node when its programs have ended; empty: nothing.
[[nodiscard]] std::string tear_down_script(const spec::JobSpec& spec);

}  // namespace dts::script
