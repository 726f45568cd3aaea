// SPDX-License-Identifier: Apache-2.0
// Which rank has which device. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"
#include "core/train/accelerator/dttrain_device.h"
#include "core/train/device/instruction_set.hpp"
#include "core/train/telemetry/gpu_health.hpp"

#include <array>
#include <string>
#include <vector>

namespace dts::train {

// Plain data, sent between ranks.
struct DevicePlace {
  std::array<char, 64> node{};  // its name
  dttrain_facts facts{};
  std::uint64_t numas = 0;  // a bit for each NUMA node, below 64, that the rank's cores are on
  double peak = 0;          // measured FLOP/s of products with the training's factors; 0: not known
};

// To the devices of other ranks on its node.
struct DeviceLinks {
  struct Link {
    int rank = -1;  // -1: none
    GpuLink link{};
  };

  std::array<Link, 16> links{};
};

// Errc::invalid if several ranks have one device, which their UUIDs tell: names all of them.
[[nodiscard]] Result<void> check_one_each(const std::vector<DevicePlace>& by_rank);

// A JSON list, an object a rank; of its device, and of its place in the node.
[[nodiscard]] std::string devices_json(const std::vector<DevicePlace>& by_rank,
                                       const std::vector<DeviceLinks>& links,
                                       Precision precision);

// Differences between what was planned for rank `rank` and what is: it was given another device
// than `visible`, CUDA_VISIBLE_DEVICES, names, or its cores are on other NUMA nodes than its
// device. A sentence each.
[[nodiscard]] std::vector<std::string> misplaced(std::size_t rank,
                                                 const DevicePlace& place,
                                                 const std::string& visible);

// Devices that the same node joins unequally: a pair of ranks without direct access, where others
// of the node have it. A sentence each.
[[nodiscard]] std::vector<std::string> odd_links(const std::vector<DevicePlace>& by_rank,
                                                 const std::vector<DeviceLinks>& links);

// FLOP/s of all devices together: measured, and by data sheets; 0 if it is not known of each.
struct Peaks {
  double measured = 0;
  double sheet = 0;
};

[[nodiscard]] Peaks peaks_of(const std::vector<DevicePlace>& by_rank, Precision precision);

}  // namespace dts::train
