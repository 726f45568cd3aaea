// SPDX-License-Identifier: Apache-2.0
// One line of a ledger as its members, before it is known which event they make. Pure, thread-safe.
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
  count,  // fits into 32 bits without a sign
  job,    // a scheduler's id, see job_id_from()
  code,   // fits into an int; -1: none
  step,   // cut to 10^15; -1: none
  flag,
  names,    // a list of texts
  seconds,  // an object of numbers
};

struct MemberName {
  std::string_view name;
  MemberKind kind;
};

// Every member that a line may have, in the order in which they are written. Others are of a later
// release. Of a wrong type each makes its line damage, whatever the event.
inline constexpr std::array<MemberName, 17> k_members{{{"time", MemberKind::text},
                                                       {"event", MemberKind::text},
                                                       {"attempt", MemberKind::count},
                                                       {"job", MemberKind::job},
                                                       {"cause", MemberKind::text},
                                                       {"exit_code", MemberKind::code},
                                                       {"decision", MemberKind::text},
                                                       {"detail", MemberKind::text},
                                                       {"nodes", MemberKind::names},
                                                       {"checkpoint", MemberKind::text},
                                                       {"rank", MemberKind::code},
                                                       {"node", MemberKind::text},
                                                       {"phase", MemberKind::text},
                                                       {"step", MemberKind::step},
                                                       {"saved", MemberKind::flag},
                                                       {"unsaved", MemberKind::flag},
                                                       {"seconds", MemberKind::seconds}}};

// Its place in k_members; their number: it is not one of them.
[[nodiscard]] constexpr std::size_t place_of(std::string_view name) {
  std::size_t place = 0;
  while (place < k_members.size() && k_members[place].name != name) ++place;
  return place;
}

using MemberValue = std::variant<std::monostate,  // the line does not have it
                                 std::string,     // as printable() shows it
                                 std::int64_t,
                                 JobId,
                                 bool,
                                 std::vector<std::string>,
                                 std::map<std::string, double>>;

class Record {
 public:
  [[nodiscard]] MemberValue& at(std::size_t place) { return values_.at(place); }

  // Null where the line does not have it. `name`: of k_members, and `Type` its kind's.
  template <class Type>
  [[nodiscard]] Type* find(std::string_view name) {
    return std::get_if<Type>(&values_.at(place_of(name)));
  }

 private:
  std::array<MemberValue, k_members.size()> values_{};
};

// nullopt for anything but one JSON object whose members have the types of their names. Without a
// document in between: a ledger has 255 MB at worst.
[[nodiscard]] std::optional<Record> record_from(std::string_view line);

}  // namespace dts::run
