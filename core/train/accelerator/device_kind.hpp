// SPDX-License-Identifier: Apache-2.0
// What computes the steps of a training, and how devices exchange what they compute. Pure,
// thread-safe.
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

// How gradients and weights go between the devices of ranks: straight, by NCCL, or by way of the
// host's memory. automatic: nccl where it is there and each rank has a device of its own.
enum class ExchangeKind { nccl, staged, automatic };

inline constexpr Names<ExchangeKind, 3> k_exchange_kinds{{{ExchangeKind::nccl, "nccl"},
                                                          {ExchangeKind::staged, "staged"},
                                                          {ExchangeKind::automatic, "auto"}}};

[[nodiscard]] inline const char* to_string(ExchangeKind kind) {
  return name_of(k_exchange_kinds, kind);
}

[[nodiscard]] inline std::optional<ExchangeKind> exchange_of(std::string_view word) {
  return value_of(k_exchange_kinds, word);
}

}  // namespace dts::train
