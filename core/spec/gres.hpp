// SPDX-License-Identifier: Apache-2.0
// The items of --gres. Pure, thread-safe.
#pragma once

#include <string>
#include <vector>

namespace dts::spec {

// What --gres requests per node, "gpu:a100:4,nvme:1".
struct GresItems {
  std::vector<std::string> gpus;    // without the first word: "a100:4"
  std::vector<std::string> others;  // "nvme:1"
};

[[nodiscard]] GresItems split_gres(const std::string& text);

}  // namespace dts::spec
