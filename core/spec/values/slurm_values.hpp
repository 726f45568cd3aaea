// SPDX-License-Identifier: Apache-2.0
// Values of options that only the scheduler reads. They are checked as far as sbatch would check
// them, normalised, and kept in JobSpec::slurm under sbatch's long name; a flag has an empty value.
// Rules: sbatch(1), Slurm 22.05. Pure, thread-safe.
#pragma once

#include "core/spec/option.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dts::spec {

// Any text of at most 1,024 bytes.
[[nodiscard]] Value for_slurm(const char* name, const char* type);

// A whole number within the bounds.
[[nodiscard]] Value slurm_number(const char* name, std::int64_t least, std::int64_t most);

// A number of cores, sockets and the like: 1 to 65,535.
[[nodiscard]] Value slurm_count(const char* name);

// A time as for --time, passed on as "[D-]HH:MM:SS".
[[nodiscard]] Value slurm_time(const char* name);

// An amount of memory or disk as for --mem, passed on in MiB ("4096M").
[[nodiscard]] Value slurm_size(const char* name);

// One of a few words; case does not matter.
[[nodiscard]] Value slurm_word(const char* name, const char* type, std::vector<std::string> words);

// A comma-separated list of such words.
[[nodiscard]] Value slurm_words(const char* name, const char* type, std::vector<std::string> words);

// --ntasks-per-gpu: a total, and permission to have more ranks than GPUs.
[[nodiscard]] Value ranks_per_gpu();

// Indices of a job array; see parse_array_indices().
[[nodiscard]] Value slurm_array(const char* name);

// Nodes in Slurm's notation; see expand_hostlist().
[[nodiscard]] Value slurm_nodes(const char* name);

// A point in time as sbatch(1) describes it for --begin: "16:00", "tomorrow", "now+1hour",
// "2027-01-20T12:34:00". Only the syntax is checked: the meaning depends on the time of submission.
[[nodiscard]] Value slurm_moment(const char* name);

// --dependency: "afterok:12:13,singleton".
[[nodiscard]] Value slurm_dependency(const char* name);

// --export: "NONE", "ALL,DEBUG=1"; see parse_exports().
[[nodiscard]] Value slurm_exports(const char* name);

// An option without a value; `passed_on` is the value that sbatch's option gets.
[[nodiscard]] Value slurm_flag(const char* name, const char* passed_on = "");

// An option with an optional value: `yes`, which JobOptions passes if it is omitted, makes it a
// flag.
[[nodiscard]] Value or_flag(Value value, const char* name);

// --slurm KEY=VALUE or KEY, repeatable: an option of this site's sbatch without a row here. Stored
// under KEY.
[[nodiscard]] Value any_for_slurm();

}  // namespace dts::spec
