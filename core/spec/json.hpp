// SPDX-License-Identifier: Apache-2.0
// spec.json: the job as stored in the run directory. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"
#include "core/spec/job_spec.hpp"

#include <string>
#include <string_view>

namespace dts::spec {

inline constexpr const char* k_spec_schema = "dtsubmit/spec/1";

// Indented, ends in a newline, keys in the order of options(), "schema": "dtsubmit/spec/1"; absent
// values are omitted. `time` is in Slurm's format, `signal_margin` in seconds.
[[nodiscard]] std::string to_json(const JobSpec& spec);

// The inverse of to_json(). Missing keys keep their default. Errc::invalid reports every problem at
// once: malformed JSON (FILE:LINE:COLUMN and a caret), unknown keys (with the nearest known one)
// and duplicates, values of the wrong type or out of range (with their place), more than 1 MiB,
// nesting deeper than 16. Comments are skipped. `file` is only for messages. Call validate() on the
// result.
[[nodiscard]] Result<JobSpec> from_json(std::string_view text, const std::string& file);

}  // namespace dts::spec
