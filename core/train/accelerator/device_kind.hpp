// SPDX-License-Identifier: Apache-2.0
// What computes the steps of a training. Pure, thread-safe.
#pragma once

#include "core/base/text/names.hpp"

#include <optional>
#include <string_view>

namespace dts::train {

// automatic: cuda where every rank can, otherwise cpu.
enum class DeviceKind { cpu, cuda, automatic };

inline constexpr Names<DeviceKind, 3> k_device_kinds{
    {{DeviceKind::cpu, "cpu"}, {DeviceKind::cuda, "cuda"}, {DeviceKind::automatic, "auto"}}};

[[nodiscard]] inline const char* to_string(DeviceKind kind) {
  return name_of(k_device_kinds, kind);
}

// The inverse; nullopt for any other text.
[[nodiscard]] inline std::optional<DeviceKind> device_of(std::string_view word) {
  return value_of(k_device_kinds, word);
}

}  // namespace dts::train
