// SPDX-License-Identifier: Apache-2.0
// Facts about a script that several rules need. Pure, thread-safe.
#pragma once

#include "core/lint/rule.hpp"
#include "core/lint/script/placeholder.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::lint {

// True if the run does the job's work: a launcher starts it, or it trains, and it is not merely
// something like `srun hostname`.
[[nodiscard]] bool is_work(const Run& run);

// The subset of subject.launches() that does the job's work.
[[nodiscard]] std::vector<const Run*> work_of(const Subject& subject);

// Commands of the script itself that do the job's work, if necessary by way of a shell: srun bash
// -c '...'.
[[nodiscard]] std::vector<const Run*> outer_work_of(const Subject& subject);

// True if `set -e`, `set -o pipefail` or the first line turns on the option: "errexit", "pipefail".
[[nodiscard]] bool turns_on(const Subject& subject, std::string_view option);

// An edit that inserts a line before all commands.
[[nodiscard]] Edit line_before_commands(const Subject& subject, const std::string& line);

// The line that contains the position `at`.
[[nodiscard]] std::string_view line_at(std::string_view text, std::size_t at);

// The number that a value states literally: "29500"; quotes are removed already.
[[nodiscard]] std::optional<std::uint64_t> written_number(const Value& value);

// USR1 for "SIGUSR1", "USR1" and "10"; empty: not a signal.
[[nodiscard]] std::string signal_word(std::string_view text);

struct AskedSignal {
  std::string name;           // "USR1"
  bool is_for_shell = false;  // with B:
  Span span;
};

// The value of --signal; nullopt: absent, or not readable.
[[nodiscard]] std::optional<AskedSignal> asked_signal(const Subject& subject);

// The `trap` commands that run something on that signal.
[[nodiscard]] std::vector<const Run*> traps_for(const Subject& subject, std::string_view signal);

// The first `scontrol requeue` in the script, traps included; null: none.
[[nodiscard]] const Run* own_requeue(const Subject& subject);

}  // namespace dts::lint
