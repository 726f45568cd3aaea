// SPDX-License-Identifier: Apache-2.0
// Which GPUs of a node are of the requested type, found by comparing the site's name for the type
// with the products that the node reports. Pure.
#pragma once

#include "core/topo/topology.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::plan {

// Whether Slurm with AutoDetect=nvml accepts `type` as the type of this product: a part of its name
// in lower case, with underscores for blanks (gres.conf(5), Type).
[[nodiscard]] bool is_type_of(std::string_view type, std::string_view product);

struct GpusByType {
  // GPUs of another type, ascending; empty if none is of the requested one.
  std::vector<unsigned> others;
  // The products are known, and none is of the type, so the name is one of the site's own.
  bool has_own_name = false;
};

// GPUs of an unknown product never count as of another type, nor do GPUs with MIG instances, since
// the type may be an instance's. Without a type, all GPUs qualify.
[[nodiscard]] GpusByType gpus_by_type(const topo::NodeTopology& node, const std::string& type);

// The warning for GpusByType::has_own_name.
[[nodiscard]] std::string own_name_warning(const topo::NodeTopology& node, const std::string& type);

}  // namespace dts::plan
