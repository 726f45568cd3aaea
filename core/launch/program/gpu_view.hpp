// SPDX-License-Identifier: Apache-2.0
// Which GPUs a rank's program is to see: programs for torchrun take the GPU whose number is their
// local rank, others the first one that they see.
#pragma once

#include "core/plan/plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

// True if these texts of Python show that their program takes its GPU by the local rank: one of
// them reads the local rank and chooses a GPU that is not the same in all ranks, or uses a library
// that does so (Lightning, DeepSpeed, accelerate). Not if one names CUDA_VISIBLE_DEVICES: its
// program reads or sets what it sees. In doubt not, since the ranks of a program that takes the
// first GPU would share it, unnoticed. Pure.
[[nodiscard]] bool takes_gpu_by_local_rank(const std::vector<std::string>& texts);

// True if each rank of the plan has one GPU of its own, and its node has more: only then is the
// number of a rank's GPU its local rank.
[[nodiscard]] bool may_number_gpus(const plan::Plan& plan);

// The Python script of the plan's command if it takes its GPU so. Empty: not, or not known. Reads
// the script and what it imports from the current folder.
[[nodiscard]] std::string script_that_numbers_gpus(const plan::Plan& plan);

}  // namespace dts::launch
