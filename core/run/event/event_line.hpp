// SPDX-License-Identifier: Apache-2.0
// Converts one line of a ledger to its event and back. Pure, thread-safe.
#pragma once

#include "core/run/event/event.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace dts::run {

// The beginning of every line that to_line() makes, except for events of a later release.
inline constexpr std::string_view k_event_beginning = R"({"time":")";

// `detail` is written as printable() shows it, truncated to 2,000 bytes.
[[nodiscard]] std::string to_line(const Event& event);

// nullopt unless `line` is one JSON object with a time, an event and members of the right types.
// Members of a later release are skipped; an event of a later release becomes Unknown.
[[nodiscard]] std::optional<Event> event_from(std::string_view line);

}  // namespace dts::run
