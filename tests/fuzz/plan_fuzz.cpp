// SPDX-License-Identifier: Apache-2.0
// plan.json: what is read is written back the same.
#include "core/plan/layout/json.hpp"
#include "tests/support/fuzz.hpp"

using dts::tests::must;

DTS_FUZZ_TARGET(input) {
  const auto plan = dts::plan::plan_from_json(input);
  if (!plan) return;
  const std::string text = dts::plan::to_json(*plan);
  const auto back = dts::plan::plan_from_json(text);
  must(back && dts::plan::to_json(*back) == text);
}
