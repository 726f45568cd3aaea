// SPDX-License-Identifier: Apache-2.0
#include "core/run/event/event_line.hpp"

#include "core/base/text/json_text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/run/event/event_fields.hpp"
#include "core/run/event/event_record.hpp"

#include <nlohmann/json.hpp>

#include <type_traits>
#include <utility>

namespace dts::run {
namespace {

using Line = nlohmann::ordered_json;
using SecondsByName = std::map<std::string, double>;

constexpr std::size_t k_longest_detail = 2000;  // may quote programs and launchers
constexpr std::string_view k_part_of_seconds = "seconds.";

constexpr std::string_view member_of(std::string_view row) {
  return row.starts_with(k_part_of_seconds) ? std::string_view("seconds") : row;
}

std::string part_of(std::string_view row) {
  return std::string(row.substr(k_part_of_seconds.size()));
}

// True if `next` is a known member that is written after `last`.
constexpr bool follows(std::string_view& last, std::string_view next) {
  const std::size_t before = last.empty() ? 0 : place_of(member_of(last));
  const std::size_t place = place_of(member_of(next));
  const bool in_order = last.empty() || before < place || (before == place && last < next);
  last = next;
  return in_order && place < k_members.size();
}

template <class Rows>
constexpr bool is_in_order(const Rows& event) {
  const auto check = [](const auto&... fields) {
    std::string_view last;
    return (follows(last, fields.name) && ...);
  };
  return std::apply(check, event.fields);
}

static_assert(std::apply([](const auto&... events) { return (is_in_order(events) && ...); },
                         k_events),
              "every member of an event is in k_members, and the rows follow its order");

// --- writing: an empty value is omitted ---

void put(Line& line, std::string_view name, const std::string& value) {
  if (value.empty()) return;
  line[std::string(name)] = name == "detail" ? printable(value, k_longest_detail) : value;
}

template <class Value>
void put(Line& line, std::string_view name, const Recorded<Value>& value) {
  put(line, name, value.name());
}

void put(Line& line, std::string_view name, bool value) {
  if (value) line[std::string(name)] = true;
}

template <class Number>
void put(Line& line, std::string_view name, const std::optional<Number>& value) {
  if constexpr (std::is_same_v<Number, Seconds>) {
    if (value) line["seconds"][part_of(name)] = value->count();
  } else if constexpr (std::is_unsigned_v<Number>) {
    if (value) line[std::string(name)] = *value;
  } else {
    if (value && *value >= 0) line[std::string(name)] = *value;
  }
}

template <class List>
void put(Line& line, std::string_view name, const List& value) {
  if (!value.empty()) line[std::string(name)] = value;
}

template <class Type>
void put_all(Line& line, const Type& event) {
  with_rows_of<Type>([&](const auto& type) {
    std::apply([&](const auto&... field) { (put(line, field.name, event.*(field.value)), ...); },
               type.fields);
  });
}

// --- reading: a missing member keeps its default ---

template <class Value>
void take(Record& record, std::string_view name, Value& value) {
  if (Value* found = record.find<Value>(name)) value = std::move(*found);
}

template <class Value>
void take(Record& record, std::string_view name, Recorded<Value>& value) {
  if (std::string* found = record.find<std::string>(name))
    value = Recorded<Value>::named(std::move(*found));
}

template <class Number>
void take(Record& record, std::string_view name, std::optional<Number>& value) {
  if constexpr (std::is_same_v<Number, Seconds>) {
    const auto* all = record.find<SecondsByName>("seconds");
    if (all == nullptr) return;
    if (const auto found = all->find(part_of(name)); found != all->end())
      value = Seconds(found->second);
  } else if (const auto* found = record.find<std::int64_t>(name)) {
    value = static_cast<Number>(*found);
  }
}

void take_number(Record& record, std::string_view name, std::uint32_t& value) {
  if (const auto* found = record.find<std::int64_t>(name))
    value = static_cast<std::uint32_t>(*found);
}

template <class Type, class Rows>
Type event_of(const Rows& type, Record& record) {
  Type event;
  std::apply([&](const auto&... field) { (take(record, field.name, event.*(field.value)), ...); },
             type.fields);
  return event;
}

EventData what_of(std::string_view name, Record& record, std::string_view line) {
  std::optional<EventData> what;
  const auto look = [&]<class Rows>(const Rows& type) {
    if (type.name == name) what = event_of<typename Rows::Type>(type, record);
  };
  std::apply([&](const auto&... events) { (look(events), ...); }, k_events);
  if (what) return *std::move(what);
  Unknown unknown{std::string(name), {}, std::string(line)};
  take(record, "detail", unknown.detail);
  return unknown;
}

}  // namespace

std::string to_line(const Event& event) {
  if (const auto* unknown = event.as<Unknown>(); unknown != nullptr && !unknown->line.empty())
    return unknown->line;
  Line line{{"time", event.time}, {"event", std::string(event_name(event))}};
  if (event.attempt != 0) line["attempt"] = event.attempt;
  if (!event.job.empty()) line["job"] = event.job;
  std::visit([&](const auto& what) { put_all(line, what); }, event.what);
  return json_line(line);
}

std::optional<Event> event_from(std::string_view line) {
  auto record = record_from(line);
  if (!record) return std::nullopt;
  const auto* time = record->find<std::string>("time");
  const auto* name = record->find<std::string>("event");
  if (time == nullptr || name == nullptr) return std::nullopt;
  Event event{.time = *time, .what = what_of(*name, *record, line)};
  take_number(*record, "attempt", event.attempt);
  if (const auto* job = record->find<JobId>("job")) event.job = *job;
  return event;
}

}  // namespace dts::run
