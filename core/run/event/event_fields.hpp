// SPDX-License-Identifier: Apache-2.0
// The events of a ledger as stored on disk: one row for each event and each member, read and
// written by core/run/event/event_line.cpp. The names are a contract with every existing ledger.
#pragma once

#include "core/run/event/event.hpp"

#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>

namespace dts::run {

template <class EventType, class Value>
struct EventField {
  std::string_view name;  // in the line; for an entry of "seconds": "seconds.<its own name>"
  Value EventType::*value;
};

template <class EventType, class... Values>
struct EventRows {
  using Type = EventType;
  std::string_view name;
  std::tuple<EventField<EventType, Values>...> fields;
};

template <class EventType, class Value>
constexpr EventField<EventType, Value> field(std::string_view name, Value EventType::*value) {
  return {name, value};
}

template <class EventType, class... Values>
constexpr EventRows<EventType, Values...> event_rows(std::string_view name,
                                                     EventField<EventType, Values>... fields) {
  return {name, {fields...}};
}

// Rows are in the order in which members are written.
inline constexpr std::tuple k_events{
    event_rows<Created>("created"),
    event_rows("submitted", field("detail", &Submitted::detail)),
    event_rows("resumed", field("detail", &Resumed::detail)),
    event_rows("attempt_started",
               field("detail", &AttemptStarted::detail),
               field("nodes", &AttemptStarted::nodes),
               field("checkpoint", &AttemptStarted::checkpoint)),
    event_rows("ranks_started", field("detail", &RanksStarted::detail)),
    event_rows("stop_requested",
               field("cause", &StopRequested::cause),
               field("detail", &StopRequested::detail)),
    event_rows("attempt_ended",
               field("cause", &AttemptEnded::cause),
               field("exit_code", &AttemptEnded::exit_code),
               field("detail", &AttemptEnded::detail),
               field("checkpoint", &AttemptEnded::checkpoint),
               field("part", &AttemptEnded::part),
               field("rank", &AttemptEnded::rank),
               field("node", &AttemptEnded::node),
               field("step", &AttemptEnded::step),
               field("saved", &AttemptEnded::saved),
               field("unsaved", &AttemptEnded::unsaved),
               field("seconds.save", &AttemptEnded::save),
               field("seconds.stalled", &AttemptEnded::stalled)),
    event_rows("decided",
               field("exit_code", &Decided::exit_code),
               field("decision", &Decided::decision),
               field("detail", &Decided::detail),
               field("exclude", &Decided::exclude),
               field("seconds", &Decided::seconds)),
    event_rows("requeued", field("detail", &Requeued::detail)),
    event_rows("resubmitted", field("detail", &Resubmitted::detail)),
    event_rows("node_unfit", field("detail", &NodeUnfit::detail), field("node", &NodeUnfit::node)),
    event_rows("advised",
               field("detail", &Advised::detail),
               field("seconds.every", &Advised::every),
               field("seconds.failure", &Advised::failure),
               field("seconds.save", &Advised::save)),
    event_rows("straggler",
               field("detail", &Straggler::detail),
               field("rank", &Straggler::rank),
               field("node", &Straggler::node),
               field("phase", &Straggler::phase),
               field("seconds.others", &Straggler::others),
               field("seconds.own", &Straggler::own)),
    event_rows("binding", field("detail", &Binding::detail)),
    event_rows("warning", field("detail", &Warning::detail)),
    event_rows("quiet",
               field("detail", &Quiet::detail),
               field("rank", &Quiet::rank),
               field("node", &Quiet::node)),
    event_rows("heard", field("detail", &Heard::detail)),
    event_rows("staging", field("detail", &Staging::detail), field("node", &Staging::node))};

static_assert(std::tuple_size_v<decltype(k_events)> + 1 == std::variant_size_v<EventData>,
              "every event but Unknown has its rows");

// Calls `use` with the rows of an event's type; does nothing for Unknown.
template <class Type, class Use>
constexpr void with_rows_of(const Use& use) {
  const auto look = [&](const auto& rows) {
    if constexpr (std::is_same_v<typename std::decay_t<decltype(rows)>::Type, Type>) use(rows);
  };
  std::apply([&](const auto&... events) { (look(events), ...); }, k_events);
}

}  // namespace dts::run
