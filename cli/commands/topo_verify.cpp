// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/topo_verify.hpp"

#include "core/launch/binding/verify_binding.hpp"

#include <fmt/format.h>

namespace dts::cli {

Result<int> verify(const Selection& selection, bool json) {
  DTS_ASSIGN(const run::RunDirectory run, find(selection));
  DTS_ASSIGN(const launch::VerifiedBinding binding, launch::verify_binding(run));
  if (json)
    fmt::print("{}", launch::to_json(binding.report));
  else
    for (const std::string& line : launch::in_lines(binding)) fmt::print("{}\n", line);
  return binding.report.has_mismatch() ? 1 : 0;
}

}  // namespace dts::cli
