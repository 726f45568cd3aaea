// SPDX-License-Identifier: Apache-2.0
// The variables by which PyTorch programs find each other. Every rank gets new values, see
// environment(7). Pure.
#pragma once

#include <array>
#include <string_view>

namespace dts::plan {

inline constexpr std::array<std::string_view, 8> k_torch_variables{"RANK",
                                                                   "WORLD_SIZE",
                                                                   "LOCAL_RANK",
                                                                   "LOCAL_WORLD_SIZE",
                                                                   "NODE_RANK",
                                                                   "GROUP_RANK",
                                                                   "MASTER_ADDR",
                                                                   "MASTER_PORT"};

}  // namespace dts::plan
