// SPDX-License-Identifier: Apache-2.0
// NodeTopology as one line of JSON, which local rank 0 sends to the agent. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"
#include "core/topo/topology.hpp"

#include <string>
#include <string_view>

namespace dts::topo {

inline constexpr std::size_t k_longest_model = 96;   // NVML_DEVICE_NAME_V2_BUFFER_SIZE
inline constexpr std::size_t k_longest_uuid = 96;    // NVML_DEVICE_UUID_V2_BUFFER_SIZE
inline constexpr std::size_t k_most_instances = 64;  // per GPU; NVIDIA's have 7

// {"cores":[[package,numa,l3 or null,[pu,...],kind],...],
//  "gpus":[["0000:3b:00.0",package,numa,l3,[bridge,...],"nvml0",part,ethernet,uuid,[instance,...]],
//  ...],"nics": the same,
//  "fabric":[[hca,port,gbps,infiniband],...],"numas":[[os,package,bytes,has_cores],...],
//  "links":[[a,b,weight],...],"closed": as cores,"doubts":["...",...]} without a newline; null for
// an index that is absent.
[[nodiscard]] std::string to_json(const NodeTopology& topology);

// The inverse. Errc::invalid, naming the place, for anything that to_json() does not write, and for
// more than 1 MiB, 65,536 cores, 1,024 hardware threads per core, or 256 GPUs or adapters.
[[nodiscard]] Result<NodeTopology> from_json(std::string_view text);

}  // namespace dts::topo
