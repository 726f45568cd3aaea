// SPDX-License-Identifier: Apache-2.0
// The functions behind the questions, by file.
#pragma once

#include "core/doctor/verdict.hpp"

namespace dts::doctor {

// Where it depends on settings, and the scheduler does not report them.
[[nodiscard]] Verdict not_known();

inline constexpr const char* k_drop_no_requeue =
    "omit --no-requeue, or continue it with `dtsubmit requeue`";

// Where a run stops that saved (preemption.cpp).
[[nodiscard]] Verdict stays_stopped();

// When a requeued job may start: a clause (preemption.cpp).
[[nodiscard]] std::string comes_back_after(const Facts& facts);

[[nodiscard]] Verdict judge_preemption(const Facts& facts);

// Coming back from anything else (returning.cpp).
[[nodiscard]] Verdict judge_exit_codes(const Facts& facts);
[[nodiscard]] Verdict judge_time_limit(const Facts& facts);
[[nodiscard]] Verdict judge_lost_node(const Facts& facts);

// Being alone on what was asked for (confinement.cpp).
[[nodiscard]] Verdict judge_cores(const Facts& facts);
[[nodiscard]] Verdict judge_memory(const Facts& facts);
[[nodiscard]] Verdict judge_gpus(const Facts& facts);
[[nodiscard]] Verdict judge_leftovers(const Facts& facts);

// Ranks that find each other (ranks.cpp).
[[nodiscard]] Verdict judge_ranks(const Facts& facts);

// bytes that a process has to be allowed to lock: the buffers of a network
inline constexpr std::uint64_t k_needed_memlock = std::uint64_t{1} << 30;

// What a job found, with Facts::probed (probe.cpp).
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

// Starting (start.cpp).
[[nodiscard]] Verdict judge_prolog(const Facts& facts);
[[nodiscard]] Verdict judge_array(const Facts& facts);
[[nodiscard]] Verdict judge_run_folder(const Facts& facts);
[[nodiscard]] Verdict judge_locked_memory(const Facts& facts);

}  // namespace dts::doctor
