// SPDX-License-Identifier: Apache-2.0
// Host lists and counts per node: what expands is bounded, and expands to itself when written out.
#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"
#include "tests/support/fuzz.hpp"

using dts::tests::must;

DTS_FUZZ_TARGET(input) {
  if (const auto hosts = dts::expand_hostlist(input)) {
    must(!hosts->empty() && hosts->size() <= 100'000);
    must(dts::expand_hostlist(dts::join(*hosts, ",")) == *hosts);
  }
  if (const auto counts = dts::expand_counts(input)) {
    std::vector<std::string> words;
    for (const unsigned count : *counts) words.push_back(std::to_string(count));
    must(!words.empty() && dts::expand_counts(dts::join(words, ",")) == *counts);
  }
}
