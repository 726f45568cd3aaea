// SPDX-License-Identifier: Apache-2.0
// One line of a ledger as the event that it holds, and back. Pure, thread-safe.
#pragma once

#include "core/run/event/event.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace dts::run {

// What every line that to_line() makes begins with, but for an event of a later release.
inline constexpr std::string_view k_event_beginning = R"({"time":")";

// `detail` is written as printable() shows it, 2,000 bytes of it at most.
[[nodiscard]] std::string to_line(const Event& event);

// nullopt for anything but one JSON object with a time, an event and members of their types.
// Members of a later release are passed over, an event of one is Unknown.
[[nodiscard]] std::optional<Event> event_from(std::string_view line);

}  // namespace dts::run
