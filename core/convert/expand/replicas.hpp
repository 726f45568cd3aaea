// SPDX-License-Identifier: Apache-2.0
// A heterogeneous job whose components are all alike: TorchX writes a job of several nodes so, with
// a component for each node. Pure.
#pragma once

#include "core/convert/expand/expand.hpp"
#include "core/lint/script/subject.hpp"

namespace dts::convert {

// The text with --nodes in place of the further components, and with the program once: if each
// component requests the same, a node with one task, the script's only launch is a srun that starts
// the same program once in each, and nothing reads how many nodes or tasks a component has.
[[nodiscard]] Expanded with_replicas_as_nodes(const lint::Subject& subject);

// True if the text uses a variable that only the components of a heterogeneous job have.
[[nodiscard]] bool names_components(std::string_view text);

}  // namespace dts::convert
