// SPDX-License-Identifier: Apache-2.0
// A file of options of dttrain: whatever the text, options that exist or an error.
#include "core/train/options/config_file.hpp"
#include "tests/support/fuzz.hpp"

using dts::tests::must;
using namespace dts::train;

DTS_FUZZ_TARGET(input) {
  const auto words = parse_config_file(input, "train.json");
  if (!words) return must(!words.error().message.empty());
  for (const OptionWords& one : *words) must(one.name.starts_with("--"));
}
