// SPDX-License-Identifier: Apache-2.0
// Which rank uses which device. Pure, thread-safe.
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
  std::array<char, 64> node{};  // name of the node
  dttrain_facts facts{};
  std::uint64_t numas = 0;  // one bit per NUMA node, below 64, that the rank's cores are on
  double peak = 0;          // measured FLOP/s of products in the training's precision; 0: unknown
};

// The links of a rank's device to the devices of other ranks on its node.
struct DeviceLinks {
  struct Link {
    int rank = -1;  // -1: none
    GpuLink link{};
  };

  std::array<Link, 16> links{};
};

// Errc::invalid if several ranks have the same device, identified by UUID. The message names all of
// them.
[[nodiscard]] Result<void> check_one_each(const std::vector<DevicePlace>& by_rank);

// A JSON list with an object for each rank: its device and the device's place in the node.
[[nodiscard]] std::string devices_json(const std::vector<DevicePlace>& by_rank,
                                       const std::vector<DeviceLinks>& links,
                                       Precision precision);

// Differences between the plan for rank `rank` and reality, one sentence each: its device is not
// the one that `visible`, CUDA_VISIBLE_DEVICES, names, or its cores are on other NUMA nodes than
// its device.
[[nodiscard]] std::vector<std::string> misplaced(std::size_t rank,
                                                 const DevicePlace& place,
                                                 const std::string& visible);

// Unequal links of a node's devices, one sentence each: pairs of ranks without direct access, where
// other pairs of the node have it.
[[nodiscard]] std::vector<std::string> odd_links(const std::vector<DevicePlace>& by_rank,
                                                 const std::vector<DeviceLinks>& links);

// FLOP/s of all devices together, measured and according to data sheets; 0 if any is unknown.
struct Peaks {
  double measured = 0;
  double sheet = 0;
};

[[nodiscard]] Peaks peaks_of(const std::vector<DevicePlace>& by_rank, Precision precision);

}  // namespace dts::train
