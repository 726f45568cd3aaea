// SPDX-License-Identifier: Apache-2.0
// A value of an enumeration as stored in a ledger: a value of a later release keeps its name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dts::run {

// Specialised for each enumeration that appears in a ledger.
template <class Value>
[[nodiscard]] std::optional<Value> value_named(std::string_view name);

template <class Value>
class Recorded {
 public:
  Recorded() = default;  // none

  Recorded(Value value) : value_(value) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] static Recorded named(std::string name) {
    if (const auto value = value_named<Value>(name)) return *value;
    Recorded other;
    other.unknown_ = std::move(name);
    return other;
  }

  [[nodiscard]] bool empty() const { return !value_ && unknown_.empty(); }

  // nullopt if there is no value, or one of a later release.
  [[nodiscard]] std::optional<Value> value() const { return value_; }

  // Empty if there is no value.
  [[nodiscard]] std::string name() const { return value_ ? to_string(*value_) : unknown_; }

  friend bool operator==(const Recorded&, const Recorded&) = default;

 private:
  std::optional<Value> value_{};
  std::string unknown_{};
};

}  // namespace dts::run
