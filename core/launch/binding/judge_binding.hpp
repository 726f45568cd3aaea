// SPDX-License-Identifier: Apache-2.0
// Compares the plan with the kernel's state and describes the differences. Pure, thread-safe.
#pragma once

#include "core/launch/binding/bound_state.hpp"
#include "core/launch/wire/planned_binding.hpp"

#include <string>
#include <vector>

namespace dts::launch {

struct BindingFinding {
  std::string text;      // does not contain the number of threads, so that ranks can share a text
  unsigned threads = 0;  // that `text` is about, as in_words() says; 0: not about threads
  bool mismatch = true;  // true: --strict-binding stops the attempt; false: a warning only

  bool operator==(const BindingFinding&) const = default;
};

// The text, preceded by "12 threads " if it is about threads.
[[nodiscard]] std::string in_words(const BindingFinding& finding);

// Empty if everything is as planned. Threads on only some of the planned PUs are fine unless two
// working threads are confined to the same PU. NCCL's own threads may be anywhere within the plan,
// since NCCL binds them near its devices.
[[nodiscard]] std::vector<BindingFinding> judge_binding(const PlannedBinding& planned,
                                                        const BoundState& found);

[[nodiscard]] bool has_mismatch(const std::vector<BindingFinding>& findings);

}  // namespace dts::launch
