// SPDX-License-Identifier: Apache-2.0
// The digests of steps in a run's metrics.jsonl. Pure; safe for any text.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dts::train {

// Digests by step: of the checksums of all chunks (`root`), or of the tensors (`digest`).
using StepDigests = std::map<std::uint64_t, std::string>;

struct History {
  StepDigests roots;
  StepDigests digests;
};

// If a step was repeated, the last record counts. An incomplete last line is ignored. Errc::invalid
// gives the number of the line that dttrain cannot have written.
[[nodiscard]] Result<History> parse_history(std::string_view metrics);

struct Comparison {
  std::uint64_t compared = 0;            // number of steps that both have
  std::optional<std::uint64_t> equal;    // the last step before the first that differs
  std::optional<std::uint64_t> differs;  // the first step that differs
  std::string there, here;               // its digests
};

[[nodiscard]] Comparison compare(const StepDigests& there, const StepDigests& here);

}  // namespace dts::train
