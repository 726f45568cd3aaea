// SPDX-License-Identifier: Apache-2.0
// Measures what judge() is to know of this node.
#pragma once

#include "core/launch/health/preflight.hpp"
#include "core/launch/launcher/own_steps.hpp"

#include <memory>
#include <optional>
#include <string>

namespace dts::launch {

// Writes and removes a file of 4 KiB in `folder`, and one in /dev/shm. Blocks as long as the file
// system does: never call it where somebody waits. NVML is asked for GPUs that are used.
// Thread-safe.
[[nodiscard]] NodeFacts measure_node(const std::string& folder, GpuUse gpus);

// The same on a thread that nobody waits for, not even this process's end: a file system that hangs
// must not keep a rank from being ended.
class NodeMeasurement {
 public:
  NodeMeasurement(std::string folder, GpuUse gpus);

  [[nodiscard]] int event_fd() const;  // readable once there is something to take

  // Once.
  [[nodiscard]] std::optional<NodeFacts> take();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace dts::launch
