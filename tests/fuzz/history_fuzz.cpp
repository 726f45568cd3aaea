// SPDX-License-Identifier: Apache-2.0
// metrics.jsonl as `dttrain verify` reads it: whatever the text, digests of steps or an error.
#include "core/train/verify/history.hpp"
#include "tests/support/fuzz.hpp"

using dts::tests::must;
using namespace dts::train;

DTS_FUZZ_TARGET(input) {
  const auto history = parse_history(input);
  if (!history) return;
  for (const auto& [step, digest] : history->roots) must(digest.size() == 16);
  const Comparison same = compare(history->digests, history->digests);
  must(same.compared == history->digests.size() && !same.differs);
}
