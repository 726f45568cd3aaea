// SPDX-License-Identifier: Apache-2.0
// What a rank of the probe left in a shared folder: refused with a message, or read, judged, and
// the same once it is written again.
#include "core/doctor/verdict.hpp"
#include "core/probe/facts.hpp"
#include "tests/support/fuzz.hpp"

using dts::tests::must;

DTS_FUZZ_TARGET(input) {
  const auto facts = dts::probe::parse_facts(input);
  if (!facts) {
    must(!facts.error().message.empty());
    return;
  }
  const std::string text = to_text(*facts);
  const auto again = dts::probe::parse_facts(text);
  must(again && to_text(*again) == text);
  dts::doctor::Facts site;
  site.probed.emplace();
  site.probed->asked_nodes = facts->world;
  site.probed->nodes = "n0";
  site.probed->ranks = {*facts, *facts};
  for (const auto& answered : dts::doctor::examine(site)) must(!answered.verdict.why.empty());
}
