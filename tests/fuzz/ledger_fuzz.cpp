// SPDX-License-Identifier: Apache-2.0
// Ledgers and metrics: bad lines are named, good ones survive being written again, and a summary of
// anything is a summary.
#include "core/run/history.hpp"
#include "core/run/ledger.hpp"
#include "core/run/summary.hpp"
#include "tests/support/fuzz.hpp"

#include <string>

using dts::tests::must;

DTS_FUZZ_TARGET(input) {
  using namespace dts::run;
  const std::string text(input);
  const auto events = parse_ledger(text, "ledger.jsonl");
  if (!events) {
    must(events.error().message.find("ledger.jsonl:") == 0);
    (void)summarise({}, text);
    return;
  }
  std::string again;
  for (const Event& event : *events) again += to_line(event) + "\n";
  const auto back = parse_ledger(again, "again");
  must(back && back->size() == events->size());
  const Circumstances counted = count_failures(*events);
  std::size_t failures = 0;
  for (const auto& [kind, count] : counted.failures) failures += count;
  must(failures <= events->size() && counted.hasty <= events->size());
  must(counted.without_progress <= counted.count(Kind::crash));
  (void)unfinished_attempt(*events);
  const RunSummary summary = summarise(*events, text);
  must(summary.steps_lost >= 0);
}
