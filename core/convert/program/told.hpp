// SPDX-License-Identifier: Apache-2.0
// Options that give torchrun, accelerate and the like their place in a job, which dtsubmit gives
// them itself. Pure.
#pragma once

#include "core/lint/script/values.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dts::convert {

// The known sizes of the job.
struct Facts {
  std::uint64_t nodes = 1;
  std::optional<std::uint64_t> gpus_per_node;
};

// Over how many nodes the processes that work together spread, according to the launcher's options.
enum class Reach { unknown, one_by_default, one, several };

struct Told {
  std::vector<bool> is_dropped;    // for each word
  std::vector<std::string> notes;  // one for each option
  std::vector<std::string> losses;
  std::vector<std::size_t> processes;  // options that stay: how many of a node
  Reach reach = Reach::unknown;
  bool becomes_torchrun = false;  // deepspeed on several nodes, which would start the others by ssh
};

// `words` is a command whose launcher is words[at].
[[nodiscard]] Told told_options(const std::vector<lint::ExpandedWord>& words,
                                std::size_t at,
                                const Facts& facts);

}  // namespace dts::convert
