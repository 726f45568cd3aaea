// SPDX-License-Identifier: Apache-2.0
// One line of a ledger as the event that it holds. Pure, thread-safe.
#pragma once

#include "core/run/ledger/ledger.hpp"

#include <optional>
#include <string_view>

namespace dts::run {

// What every line that to_line() makes begins with.
inline constexpr std::string_view k_event_beginning = R"({"time":")";

// nullopt for anything but one JSON object with a time, an event and fields of their types. Members
// of a later release are passed over. Without a document in between: a ledger has 255 MB at worst.
[[nodiscard]] std::optional<Event> event_from(std::string_view line);

}  // namespace dts::run
