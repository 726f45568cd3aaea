// SPDX-License-Identifier: Apache-2.0
// One training that a script starts node by node: torchrun --nnodes 2 --node_rank 1. Pure.
#pragma once

#include "core/convert/known/node_values.hpp"
#include "core/convert/parts.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace dts::convert {

inline constexpr const char* k_split_world =
    "it is one rank's or one node's part of a training on several: start all of them with one srun";

// What a program says of its place in a world.
struct Place {
  std::optional<std::uint64_t> nodes;
  std::optional<std::uint64_t> rank;
  std::vector<Span> of_rank;  // its words
  bool is_anywhere = false;   // srun starts it on one node, which Slurm chooses
};

// `known` is what is known before the item.
[[nodiscard]] Place place_of(const Item& item, const Resolver& resolver, const Known& known);

struct World {
  bool is_whole = false;       // the programs are the same one, once on each node of the job
  std::vector<bool> is_split;  // for each program: of a world that cannot be put together
};

// `places`: of the programs in `parts`; `nodes` and `all` are their nodes and what they say.
[[nodiscard]] World world_of(const std::vector<Part>& parts,
                             const std::vector<std::size_t>& places,
                             const std::vector<std::optional<NodeRange>>& nodes,
                             const std::vector<Place>& all);

}  // namespace dts::convert
