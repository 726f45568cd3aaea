// SPDX-License-Identifier: Apache-2.0
// Checks of a JobSpec on its own, without a cluster. Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/spec/job_spec.hpp"

namespace dts::spec {

// Every problem, in the order of options(), then of those that concern several of them; empty when
// there is none. `where` is the option's name
// ("--nodes"), or "command". After it passed, every text of the spec is printable UTF-8 (arguments
// of the command may hold tabs and newlines) and every count is at least 1 and at most 65,535.
[[nodiscard]] Diagnostics validate(const JobSpec& spec);

// What of a job's name a folder can have; "job" where nothing is left.
[[nodiscard]] std::string folder_name(const std::string& job_name);

}  // namespace dts::spec
