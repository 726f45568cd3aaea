// SPDX-License-Identifier: Apache-2.0
// The functions that answer the questions, by file.
#pragma once

#include "core/doctor/verdict.hpp"

namespace dts::doctor {

// The verdict if it depends on settings that the scheduler does not report.
[[nodiscard]] Verdict not_known();

inline constexpr const char* k_drop_no_requeue =
    "omit --no-requeue, or continue it with `dtsubmit requeue`";

// The verdict if a run saves but then stays stopped (preemption.cpp).
[[nodiscard]] Verdict stays_stopped();

// When a requeued job may start again, as a clause (preemption.cpp).
[[nodiscard]] std::string comes_back_after(const Facts& facts);

[[nodiscard]] Verdict judge_preemption(const Facts& facts);

// Returning after anything else (returning.cpp).
[[nodiscard]] Verdict judge_exit_codes(const Facts& facts);
[[nodiscard]] Verdict judge_time_limit(const Facts& facts);
[[nodiscard]] Verdict judge_lost_node(const Facts& facts);

// Exclusive use of the requested resources (confinement.cpp).
[[nodiscard]] Verdict judge_cores(const Facts& facts);
[[nodiscard]] Verdict judge_memory(const Facts& facts);
[[nodiscard]] Verdict judge_gpus(const Facts& facts);
[[nodiscard]] Verdict judge_leftovers(const Facts& facts);

// Whether ranks find each other (ranks.cpp).
[[nodiscard]] Verdict judge_ranks(const Facts& facts);

// Bytes that a process must be allowed to lock, for the buffers of a network.
inline constexpr std::uint64_t k_needed_memlock = std::uint64_t{1} << 30;

// What a probe job found, from Facts::probed (probe.cpp).
[[nodiscard]] Verdict judge_probe_start(const Facts& facts);
[[nodiscard]] Verdict judge_probe_ranks(const Facts& facts);
[[nodiscard]] Verdict judge_probe_folder(const Facts& facts);
[[nodiscard]] Verdict judge_probe_clocks(const Facts& facts);
[[nodiscard]] Verdict judge_probe_names(const Facts& facts);
[[nodiscard]] Verdict judge_probe_ssh(const Facts& facts);
[[nodiscard]] Verdict judge_probe_limits(const Facts& facts);
[[nodiscard]] Verdict judge_probe_cores(const Facts& facts);
[[nodiscard]] Verdict judge_probe_warning(const Facts& facts);
[[nodiscard]] Verdict judge_probe_scratch(const Facts& facts);

// Starting a job (start.cpp).
[[nodiscard]] Verdict judge_prolog(const Facts& facts);
[[nodiscard]] Verdict judge_array(const Facts& facts);
[[nodiscard]] Verdict judge_run_folder(const Facts& facts);
[[nodiscard]] Verdict judge_locked_memory(const Facts& facts);

}  // namespace dts::doctor
