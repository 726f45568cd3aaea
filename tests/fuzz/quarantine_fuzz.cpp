// SPDX-License-Identifier: Apache-2.0
// The quarantine's file: whatever stands in it, some nodes are in quarantine and a person can read
// why; what is worth keeping says the same.
#include "core/base/text/units.hpp"
#include "core/run/index/quarantine.hpp"
#include "tests/support/fuzz.hpp"

#include <string>

using dts::tests::must;

DTS_FUZZ_TARGET(input) {
  using namespace dts::run;
  const WallTime now = *dts::parse_utc("2026-11-21T00:00:00Z");
  const std::vector<Strike> strikes = parse_strikes(std::string(input));
  std::string again;
  for (const Strike& strike : strikes) again += to_line(strike) + "\n";
  must(parse_strikes(again).size() == strikes.size());
  const auto all = quarantined(strikes, now);
  must(all.size() <= strikes.size());
  for (const Quarantined& one : all) must(one.since <= now && now < one.until && one.times > 0);
  must(worth_keeping(strikes, now).size() <= strikes.size());
}
