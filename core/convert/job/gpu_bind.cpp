// SPDX-License-Identifier: Apache-2.0
#include "core/convert/job/gpu_bind.hpp"

namespace dts::convert {

const char* view_of_binding(const std::string& value) {
  return value.find("none") != std::string::npos ? "node" : "rank";
}

void read_gpu_bind(const lint::Launch& launch, Settings& settings) {
  for (const char* name : {"gpu-bind", "tres-bind"})
    if (const auto* bind = launch.option(name); bind != nullptr)
      settings["gpu-view"] = {{view_of_binding(bind->value)}, k_no_row};
}

}  // namespace dts::convert
