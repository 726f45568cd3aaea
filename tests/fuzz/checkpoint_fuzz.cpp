// SPDX-License-Identifier: Apache-2.0
// Files of a checkpoint and of the data set: whatever the bytes, an answer and no more memory than
// they justify.
#include "core/train/checkpoint/checkpoint.hpp"
#include "core/train/data/dataset.hpp"
#include "tests/support/fuzz.hpp"

using dts::tests::must;

DTS_FUZZ_TARGET(input) {
  if (const auto manifest = dts::train::parse_manifest(input)) {
    const std::string again = dts::train::encode_manifest(*manifest);
    const auto parsed = dts::train::parse_manifest(again);
    must(parsed.has_value() && dts::train::encode_manifest(*parsed) == again);
  }
  if (const auto idx = dts::train::parse_idx(input)) must(idx->values.size() <= input.size());
}
