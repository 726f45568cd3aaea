// SPDX-License-Identifier: Apache-2.0
// Ledgers and metrics: bad lines are numbered and cost nothing but themselves, good ones survive
// being written again, and a summary of anything is a summary.
#include "core/run/event/event_line.hpp"
#include "core/run/ledger/history.hpp"
#include "core/run/ledger/ledger.hpp"
#include "core/run/summary/summary.hpp"
#include "tests/support/fuzz.hpp"

#include <algorithm>
#include <string>
#include <vector>

using dts::tests::must;

DTS_FUZZ_TARGET(input) {
  using namespace dts::run;
  const std::string text(input);
  const Ledger ledger = parse_ledger(text);
  const std::vector<Event>& events = ledger.events;
  // Half a line at the end counts where a crash of the system has left NULs in it.
  const bool has_nuls = text.find('\0', text.rfind('\n') + 1) != std::string::npos;
  const auto lines =
      static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + has_nuls;
  must(ledger.damaged.size() <= lines && events.size() <= lines);
  must(ledger.damaged.size() + events.size() >= lines);
  must(std::is_sorted(ledger.damaged.begin(), ledger.damaged.end()));
  must(ledger.damaged.empty() || ledger.damaged.back() <= lines);
  must(damage_words(ledger, "ledger.jsonl").empty() == ledger.damaged.empty());
  std::string again;
  for (const Event& event : events) again += to_line(event) + "\n";
  const Ledger back = parse_ledger(again);
  must(back.damaged.empty() && back.events.size() == events.size());
  // What is not known of a line that is written again is lost at the first time, then nothing more.
  for (std::size_t i = 0; i < events.size(); ++i)
    must(to_line(back.events[i]) == to_line(events[i]));
  // Damage in between costs nothing but itself.
  const Ledger torn = parse_ledger(again + text.substr(0, text.find('\n')) + "\n" + again);
  must(torn.events.size() >= 2 * events.size() && torn.damaged.size() <= 1);
  const Circumstances counted = count_failures(events);
  std::size_t failures = 0;
  for (const auto& [kind, count] : counted.failures) failures += count;
  must(failures <= events.size() && counted.unproven <= events.size());
  must(counted.without_progress <= counted.count(Kind::crash));
  (void)unfinished_attempt(events);
  const RunSummary summary = summarise(events, text);
  must(summary.steps_lost >= -1);
}
