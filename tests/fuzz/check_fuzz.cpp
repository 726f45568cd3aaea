// SPDX-License-Identifier: Apache-2.0
// Any check.json: refused with a message, or judged; every fault is said, and a cluster is fit
// exactly if there is none.
#include "core/check/verdict.hpp"
#include "tests/support/fuzz.hpp"

using dts::tests::must;

DTS_FUZZ_TARGET(input) {
  using namespace dts::check;
  const auto facts = parse_facts(input);
  if (!facts) {
    must(!facts.error().message.empty());
    return;
  }
  for (const Facts* baseline : {static_cast<const Facts*>(nullptr), &*facts}) {
    const Verdict verdict = judge(*facts, {}, baseline);
    must(verdict.nodes.size() == facts->nodes.size());
    must(verdict.links.size() == facts->pairs.size());
    must(verdict.fit == faults(*facts, verdict).empty());
  }
}
