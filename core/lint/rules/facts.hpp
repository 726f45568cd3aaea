// SPDX-License-Identifier: Apache-2.0
// Questions that several rules ask about a script. Pure, thread-safe.
#pragma once

#include "core/lint/rule.hpp"
#include "core/lint/script/placeholder.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::lint {

// The run does the job's work: it is started by a launcher or trains, and is no `srun hostname`.
[[nodiscard]] bool is_work(const Run& run);

// launches() that do the job's work.
[[nodiscard]] std::vector<const Run*> work_of(const Subject& subject);

// Commands of the script itself that do the job's work, if by way of a shell: srun bash -c '...'.
[[nodiscard]] std::vector<const Run*> outer_work_of(const Subject& subject);

// Whether `set -e`, `set -o pipefail` or the first line turns that option on: "errexit",
// "pipefail".
[[nodiscard]] bool turns_on(const Subject& subject, std::string_view option);

// Inserts a line so that all commands come behind it.
[[nodiscard]] Edit line_before_commands(const Subject& subject, const std::string& line);

// The line that a place is in.
[[nodiscard]] std::string_view line_at(std::string_view text, std::size_t at);

// A number written out: "29500", quotes removed before.
[[nodiscard]] std::optional<std::uint64_t> written_number(const Value& value);

// USR1 for "SIGUSR1", "USR1" and "10"; empty: no signal.
[[nodiscard]] std::string signal_word(std::string_view text);

struct AskedSignal {
  std::string name;           // "USR1"
  bool is_for_shell = false;  // B:
  Span span;
};

// --signal; nullopt: not there, or not readable.
[[nodiscard]] std::optional<AskedSignal> asked_signal(const Subject& subject);

// The `trap` commands for that signal which run something.
[[nodiscard]] std::vector<const Run*> traps_for(const Subject& subject, std::string_view signal);

// `scontrol requeue` anywhere in the script, traps included; null: none.
[[nodiscard]] const Run* own_requeue(const Subject& subject);

}  // namespace dts::lint
