// SPDX-License-Identifier: Apache-2.0
// The kinds of devices that compute the steps of a training, and how they exchange results. Pure,
// thread-safe.
#pragma once

#include "core/base/text/names.hpp"

#include <optional>
#include <string_view>

namespace dts::train {

// automatic: cuda if all ranks can use it, otherwise cpu.
enum class DeviceKind { cpu, cuda, automatic };

inline constexpr Names<DeviceKind, 3> k_device_kinds{
    {{DeviceKind::cpu, "cpu"}, {DeviceKind::cuda, "cuda"}, {DeviceKind::automatic, "auto"}}};

[[nodiscard]] inline const char* to_string(DeviceKind kind) {
  return name_of(k_device_kinds, kind);
}

// The inverse of to_string(); nullopt for any other text.
[[nodiscard]] inline std::optional<DeviceKind> device_of(std::string_view word) {
  return value_of(k_device_kinds, word);
}

// How gradients and weights travel between the devices of ranks: directly, by NCCL, or staged in
// host memory. automatic: nccl if it is available and each rank has a device of its own.
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
