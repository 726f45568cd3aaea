// SPDX-License-Identifier: Apache-2.0
// Compares the plan with the kernel's state, in sentences. Pure, thread-safe.
#pragma once

#include "core/launch/binding/bound_state.hpp"
#include "core/launch/wire/planned_binding.hpp"

#include <string>
#include <vector>

namespace dts::launch {

struct BindingFinding {
  std::string text;      // without the number of threads, so that ranks have equal texts
  unsigned threads = 0;  // that `text` is about, and begins with; 0: none
  bool mismatch = true;  // --strict-binding stops the attempt; otherwise only a warning

  bool operator==(const BindingFinding&) const = default;
};

// The text, preceded by "12 threads " if it is about threads.
[[nodiscard]] std::string in_words(const BindingFinding& finding);

// Empty: everything is as planned. Threads on a part of the planned PUs are fine unless two that
// work are confined to the same PU; NCCL's own threads are fine anywhere in the plan (its
// nearest-CPU masks).
[[nodiscard]] std::vector<BindingFinding> judge_binding(const PlannedBinding& planned,
                                                        const BoundState& found);

[[nodiscard]] bool has_mismatch(const std::vector<BindingFinding>& findings);

}  // namespace dts::launch
