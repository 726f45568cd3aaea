// SPDX-License-Identifier: Apache-2.0
// ledger.jsonl: what happened to a run, one JSON object a line, only ever appended to.
#pragma once

#include "core/base/job_id.hpp"
#include "core/base/result.hpp"
#include "core/run/event/event.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::run {

// Appends with one write(2) and fsync; `event.time` is set to now where empty. Half a record that a
// crash left at the end is cut off first.
[[nodiscard]] Result<void> append_event(const std::string& ledger, Event event);

struct Ledger {
  std::vector<Event> events{};
  std::vector<unsigned> damaged{};  // numbers of lines, from 1: no event, or half of one before it
  bool absent = false;              // the run directory is there, its ledger is not
};

// Every whole line that is an event, its texts as printable() shows them. What a crash of a disk, a
// file server or a power supply leaves in between (NULs, half a record, half a record with a whole
// one behind it) is passed over and numbered. A last line without its newline is an append that
// goes on: it is left out. Takes time in proportion to the text.
[[nodiscard]] Ledger parse_ledger(std::string_view text);

// Errors: of the run directory that is gone (not_found); of a ledger that is not ours alone.
[[nodiscard]] Result<Ledger> load_ledger(const std::string& ledger);

// The same for those to whom damage is no news.
[[nodiscard]] Result<std::vector<Event>> read_ledger(const std::string& ledger);

// One sentence for people on what of a file could not be read; empty: all of it was.
[[nodiscard]] std::string damage_words(const Ledger& read, const std::string& ledger);
[[nodiscard]] std::string damage_words(const std::vector<unsigned>& lines, const std::string& file);

}  // namespace dts::run
