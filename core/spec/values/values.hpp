// SPDX-License-Identifier: Apache-2.0
// The kinds of option values: one function per kind and unit, each given the member of JobSpec that
// it fills. Pure, thread-safe.
#pragma once

#include "core/spec/option.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dts::spec {

using Seconds = std::chrono::seconds;

// At least `least`, at most 65,535 (Slurm's counts have 16 bits).
[[nodiscard]] Value count(unsigned JobSpec::*member, unsigned least);
[[nodiscard]] Value count(std::optional<unsigned> JobSpec::*member, unsigned least);

// Like count(), but 0, the default, means not requested, and is not written.
[[nodiscard]] Value count_if_any(unsigned JobSpec::*member);
[[nodiscard]] Value count_if_any(std::optional<unsigned> JobSpec::*member);

// Printable UTF-8, at most 1,024 bytes (Slurm's limit for names, job_mgr.c).
[[nodiscard]] Value text(std::string JobSpec::*member, const char* type);

// Repeatable text: each occurrence adds to the list. `example` is JSON for messages.
[[nodiscard]] Value texts(std::vector<std::string> JobSpec::*member,
                          const char* type,
                          const char* example);

// Any text; it is for the submitting command and is not stored in spec.json.
[[nodiscard]] Value local_text(std::string JobSpec::*member, const char* type);

// Appends the problems of such a text.
void check_text(const std::string& text, const std::string& option, Diagnostics& problems);

// Nodes in Slurm's notation; see expand_hostlist().
[[nodiscard]] Value host_list(std::string JobSpec::*member);

// One of a few words.
[[nodiscard]] Value choice(std::string JobSpec::*member,
                           const char* type,
                           std::vector<std::string> words);

// --launcher: "auto" or one of built_in_launchers().
[[nodiscard]] Value launcher(Launcher JobSpec::*member);

// --bind; see parse_bind().
[[nodiscard]] Value bind(Bind JobSpec::*member);

enum class Written { always, if_set };

// True if the flag was typed. `written`: whether spec.json stores it.
[[nodiscard]] Value flag(bool JobSpec::*member, Written written);

// A flag that negates another one; spec.json stores the other one.
[[nodiscard]] Value no_flag(bool JobSpec::*member);

// A time limit as Slurm writes it: a plain number is minutes. In the second form, 0 means none.
[[nodiscard]] Value time_limit(std::optional<Seconds> JobSpec::*member);
[[nodiscard]] Value time_limit(Seconds JobSpec::*member);

// A duration: a plain number is seconds, `least` to 65,535.
[[nodiscard]] Value length(Seconds JobSpec::*member, unsigned least);

// Like length(), but also accepts `on` (the default) and `off` (0).
[[nodiscard]] Value length_or_off(Seconds JobSpec::*member, const char* type);

// Like length(), but unbounded; UNLIMITED is seconds::max(). Zero is rejected.
[[nodiscard]] Value patience(std::optional<Seconds> JobSpec::*member);

// --mem in MiB; see parse_memory_mib().
[[nodiscard]] Value memory(std::optional<std::uint64_t> JobSpec::*member);

// --nodes: "4" or "4-4"; a real range is rejected.
[[nodiscard]] Value node_count();

// A number of GPUs of one type, "8" or "a100:4".
struct TypedGpus {
  std::string type;  // the site's name; empty: any
  unsigned count = 1;
};

[[nodiscard]] Result<TypedGpus> parse_gpus(const std::string& text);

// --gpus-per-node; see parse_gpus().
[[nodiscard]] Value gpus_per_node();

// A number of GPUs with an optional type, or of ranks, for settle_size().
[[nodiscard]] Value gpu_total(std::optional<unsigned> Totals::*member);
[[nodiscard]] Value task_total(std::optional<unsigned> Totals::*member);

// --gres: GPUs become --gpus-per-node, other items go to the scheduler.
[[nodiscard]] Value gres();

// --signal of sbatch: "[B:]USR1@120" sets the stop signal and its margin.
[[nodiscard]] Value signal_and_margin();

// A name for the job's log, in sbatch's file name pattern; see JobSpec::log_links.
[[nodiscard]] Value log_link(const char* name);

// --open-mode: accepts only `append`, which is our behaviour.
[[nodiscard]] Value append_only();

// A signal that a program can catch, by name ("USR1", "SIGHUP") or number.
[[nodiscard]] Value stop_signal(int JobSpec::*member);

// A subset of all_frameworks(), or `all`, or `none`.
[[nodiscard]] Value frameworks(std::vector<std::string> JobSpec::*member);

}  // namespace dts::spec
