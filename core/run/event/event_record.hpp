// SPDX-License-Identifier: Apache-2.0
// One line of a ledger as a set of members, before these are known to form an event. Pure,
// thread-safe.
#pragma once

#include "core/base/job_id.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dts::run {

enum class MemberKind {
  text,
  count,  // fits into 32 unsigned bits
  job,    // a scheduler's job id, see job_id_from()
  code,   // fits into an int; -1: none
  step,   // at most 10^15; -1: none
  flag,
  names,    // a list of texts
  seconds,  // an object of numbers
};

struct MemberName {
  std::string_view name;
  MemberKind kind;
};

// Every member that a line may have, in the order in which they are written. Other members belong
// to a later release. A member of the wrong type makes the line damaged, whatever the event.
inline constexpr std::array<MemberName, 19> k_members{{{"time", MemberKind::text},
                                                       {"event", MemberKind::text},
                                                       {"attempt", MemberKind::count},
                                                       {"job", MemberKind::job},
                                                       {"cause", MemberKind::text},
                                                       {"exit_code", MemberKind::code},
                                                       {"decision", MemberKind::text},
                                                       {"detail", MemberKind::text},
                                                       {"nodes", MemberKind::names},
                                                       {"checkpoint", MemberKind::text},
                                                       {"part", MemberKind::text},
                                                       {"rank", MemberKind::code},
                                                       {"node", MemberKind::text},
                                                       {"exclude", MemberKind::text},
                                                       {"phase", MemberKind::text},
                                                       {"step", MemberKind::step},
                                                       {"saved", MemberKind::flag},
                                                       {"unsaved", MemberKind::flag},
                                                       {"seconds", MemberKind::seconds}}};

// The index of a name in k_members, or its size if the name is unknown.
[[nodiscard]] constexpr std::size_t place_of(std::string_view name) {
  std::size_t place = 0;
  while (place < k_members.size() && k_members[place].name != name) ++place;
  return place;
}

using MemberValue = std::variant<std::monostate,  // absent from the line
                                 std::string,     // as printable() shows it
                                 std::int64_t,
                                 JobId,
                                 bool,
                                 std::vector<std::string>,
                                 std::map<std::string, double>>;

class Record {
 public:
  [[nodiscard]] MemberValue& at(std::size_t place) { return values_.at(place); }

  // Null if the line lacks the member. `name` must be in k_members, and `Type` must match its kind.
  template <class Type>
  [[nodiscard]] Type* find(std::string_view name) {
    return std::get_if<Type>(&values_.at(place_of(name)));
  }

 private:
  std::array<MemberValue, k_members.size()> values_{};
};

// nullopt unless `line` is one JSON object whose members have the types that belong to their names.
// Parses without building a document, since a ledger can have up to 255 MB.
[[nodiscard]] std::optional<Record> record_from(std::string_view line);

}  // namespace dts::run
