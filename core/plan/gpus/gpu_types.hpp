// SPDX-License-Identifier: Apache-2.0
// Which GPUs of a node are of the type that a job asks for: the site's name for them beside the
// products that the node reports. Pure.
#pragma once

#include "core/topo/topology.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::plan {

// Whether Slurm, which finds GPUs by itself (AutoDetect=nvml), takes `type` for the type of such a
// product: a part of its name in lower case with underscores for blanks (gres.conf(5), Type).
[[nodiscard]] bool is_type_of(std::string_view type, std::string_view product);

struct GpusByType {
  // Those of another type, ascending, if some are of the one that is asked for.
  std::vector<unsigned> others;
  // Products are known, and none is of the type: the site has made the name up.
  bool has_own_name = false;
};

// GPUs whose product is not known are never among the others, nor those with MIG instances, whose
// type may be that of an instance. Without a type all GPUs will do.
[[nodiscard]] GpusByType gpus_by_type(const topo::NodeTopology& node, const std::string& type);

// A warning where GpusByType::has_own_name.
[[nodiscard]] std::string own_name_warning(const topo::NodeTopology& node, const std::string& type);

}  // namespace dts::plan
