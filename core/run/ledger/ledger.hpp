// SPDX-License-Identifier: Apache-2.0
// ledger.jsonl: what happened to a run, one JSON object a line, only ever appended to.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dts::run {

struct Event {
  std::string time{};                // ISO 8601 UTC
  std::string event{};               // created, submitted, resumed, attempt_started, ranks_started,
                                     // stop_requested, attempt_ended, decided, requeued,
                                     // resubmitted (its job is the new one), node_unfit, advised,
                                     // straggler, binding, warning, quiet, heard
  unsigned attempt = 0;              // 0: before the first
  std::uint32_t job = 0;             // scheduler's id; 0: none
  std::string cause{};               // of stop_requested and attempt_ended
  int exit_code = -1;                // of attempt_ended and decided; -1: none
  std::string decision{};            // of decided
  std::string detail{};              // for people
  std::vector<std::string> nodes{};  // of attempt_started
  std::string checkpoint{};          // the newest one, at attempt_started and attempt_ended
  int rank = -1;                     // of attempt_ended: the first that failed; -1: none; of
                                     // straggler: which
  std::string node{};                // where that was, where it is known
  std::string phase{};               // of straggler: compute, input or save
  std::int64_t step = -1;            // of attempt_ended: the newest that its program told; -1: none
  bool saved = false;                // of attempt_ended: see saves_otherwise()
  bool unsaved = false;              // of attempt_ended: asked to save, not every rank did
  // Of decided, at the run's end: see run/summary/goodput.hpp. Of attempt_ended: save, what one
  // takes. Of advised: save, every, and failure, what is between two. Of straggler: own, others.
  std::map<std::string, double> seconds{};
};

// `detail` is written as printable() shows it, 2,000 bytes of it at most.
[[nodiscard]] std::string to_line(const Event& event);

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
