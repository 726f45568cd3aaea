// SPDX-License-Identifier: Apache-2.0
// Which rank has which device. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"
#include "core/train/accelerator/dttrain_device.h"

#include <array>
#include <string>
#include <vector>

namespace dts::train {

// Plain data, sent between ranks.
struct DevicePlace {
  std::array<char, 64> node{};  // its name
  dttrain_facts facts{};
};

// Errc::invalid if several ranks have one device, which their UUIDs tell: names all of them.
[[nodiscard]] Result<void> check_one_each(const std::vector<DevicePlace>& by_rank);

// A JSON list, an object a rank.
[[nodiscard]] std::string devices_json(const std::vector<DevicePlace>& by_rank);

}  // namespace dts::train
