// SPDX-License-Identifier: Apache-2.0
// The digests that a run's metrics.jsonl has of its steps. Pure; safe for any text.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dts::train {

// By step: of the checksums of all chunks (`root`), or of the tensors (`digest`).
using StepDigests = std::map<std::uint64_t, std::string>;

struct History {
  StepDigests roots;
  StepDigests digests;
};

// Of a step that was repeated, the last one counts. Half a line at the end is left out.
// Errc::invalid names the line that is not one of dttrain's.
[[nodiscard]] Result<History> parse_history(std::string_view metrics);

struct Comparison {
  std::uint64_t compared = 0;            // steps that both have
  std::optional<std::uint64_t> equal;    // the last one before the first that differs
  std::optional<std::uint64_t> differs;  // the first one
  std::string there, here;               // its digests
};

[[nodiscard]] Comparison compare(const StepDigests& there, const StepDigests& here);

}  // namespace dts::train
