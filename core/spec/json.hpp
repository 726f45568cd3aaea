// SPDX-License-Identifier: Apache-2.0
// spec.json: the job as the run directory keeps it. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"
#include "core/spec/job_spec.hpp"

#include <string>
#include <string_view>

namespace dts::spec {

inline constexpr const char* k_spec_schema = "dtsubmit/spec/1";

// Indented, ends in a newline, keys in the order of options(), "schema": "dtsubmit/spec/1";
// absent values are omitted. `time` is in Slurm's spelling, `signal_margin` in seconds.
[[nodiscard]] std::string to_json(const JobSpec& spec);

// The inverse. Keys not given keep their default. Errc::invalid with every problem at once: text
// that is not JSON (FILE:LINE:COLUMN and a caret), an unknown or repeated key (with the nearest
// known one), a wrong type or a value out of range (where it is), more than 1 MiB, nesting deeper
// than 16. Comments are skipped. `file` is only for the messages. Call validate() on the result.
[[nodiscard]] Result<JobSpec> from_json(std::string_view text, const std::string& file);

}  // namespace dts::spec
