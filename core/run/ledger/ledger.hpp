// SPDX-License-Identifier: Apache-2.0
// ledger.jsonl: the history of a run, one JSON object per line, append-only.
#pragma once

#include "core/base/job_id.hpp"
#include "core/base/result.hpp"
#include "core/run/event/event.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::run {

// Appends with one write(2) and fsync. `event.time` is set to the current time if it is empty. Half
// a record that a crash left at the end is removed first.
[[nodiscard]] Result<void> append_event(const std::string& ledger, Event event);

struct Ledger {
  std::vector<Event> events{};
  std::vector<unsigned> damaged{};  // line numbers, from 1: no event, or preceded by half of one
  bool absent = false;              // the run directory exists, but its ledger is absent or empty
};

// All complete lines that are events, with texts as printable() shows them. Damage in between, by a
// failing disk, file server or power supply (NULs, half a record, half a record followed by a
// complete one), is skipped and its line number noted. A last line without a newline is an append
// in progress, and is omitted. Takes time proportional to the length of the text.
[[nodiscard]] Ledger parse_ledger(std::string_view text);

// Errors: the run directory is gone (not_found), or the ledger is not exclusively ours.
[[nodiscard]] Result<Ledger> load_ledger(const std::string& ledger);

// The same for callers that ignore damage.
[[nodiscard]] Result<std::vector<Event>> read_ledger(const std::string& ledger);

// One sentence for users about what could not be read from a file; empty if there was nothing.
[[nodiscard]] std::string damage_words(const Ledger& read, const std::string& ledger);
[[nodiscard]] std::string damage_words(const std::vector<unsigned>& lines, const std::string& file);
// The same for any file of lines; `is_whole` is called for each line that is not empty.
[[nodiscard]] std::string damage_words(std::string_view text,
                                       const std::string& file,
                                       const std::function<bool(std::string_view)>& is_whole);

}  // namespace dts::run
