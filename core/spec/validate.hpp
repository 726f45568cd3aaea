// SPDX-License-Identifier: Apache-2.0
// Checks of a JobSpec on its own, without a cluster. Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/spec/job_spec.hpp"

namespace dts::spec {

// Every problem, in the order of options(), then those that concern several options; empty if there
// are none. `where` is the option's name ("--nodes") or "command". If it passes, every string of
// the spec is printable UTF-8 (arguments of the command may contain tabs and newlines) and every
// count is between 1 and 65,535.
[[nodiscard]] Diagnostics validate(const JobSpec& spec);

// The characters of a job's name that a folder name may have; "job" if none are left.
[[nodiscard]] std::string folder_name(const std::string& job_name);

}  // namespace dts::spec
