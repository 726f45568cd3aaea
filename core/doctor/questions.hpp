// SPDX-License-Identifier: Apache-2.0
// The functions behind the questions, by file.
#pragma once

#include "core/doctor/verdict.hpp"

namespace dts::doctor {

// Where it depends on settings, and the scheduler does not report them.
[[nodiscard]] Verdict not_known();

// Coming back (returning.cpp).
[[nodiscard]] Verdict judge_exit_codes(const Facts& facts);
[[nodiscard]] Verdict judge_preemption(const Facts& facts);
[[nodiscard]] Verdict judge_time_limit(const Facts& facts);
[[nodiscard]] Verdict judge_lost_node(const Facts& facts);

// Being alone on what was asked for (confinement.cpp).
[[nodiscard]] Verdict judge_cores(const Facts& facts);
[[nodiscard]] Verdict judge_memory(const Facts& facts);
[[nodiscard]] Verdict judge_gpus(const Facts& facts);
[[nodiscard]] Verdict judge_leftovers(const Facts& facts);

// Starting (start.cpp).
[[nodiscard]] Verdict judge_ranks(const Facts& facts);
[[nodiscard]] Verdict judge_array(const Facts& facts);
[[nodiscard]] Verdict judge_run_folder(const Facts& facts);
[[nodiscard]] Verdict judge_locked_memory(const Facts& facts);

}  // namespace dts::doctor
