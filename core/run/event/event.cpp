// SPDX-License-Identifier: Apache-2.0
#include "core/run/event/event.hpp"

#include "core/run/event/event_fields.hpp"

#include <type_traits>

namespace dts::run {

std::string_view event_name(const Event& event) {
  return std::visit(
      [](const auto& what) -> std::string_view {
        using Type = std::decay_t<decltype(what)>;
        std::string_view name;
        if constexpr (std::is_same_v<Type, Unknown>)
          name = what.name;
        else
          with_rows_of<Type>([&](const auto& rows) { name = rows.name; });
        return name;
      },
      event.what);
}

const std::string& detail_of(const Event& event) {
  static const std::string none;
  return std::visit(
      [](const auto& what) -> const std::string& {
        if constexpr (requires { what.detail; })
          return what.detail;
        else
          return none;
      },
      event.what);
}

bool ends_run(const Event& event) {
  const auto* decided = event.as<Decided>();
  const auto action = decided != nullptr ? decided->decision.value() : std::nullopt;
  return action && ends_run(*action);
}

}  // namespace dts::run
