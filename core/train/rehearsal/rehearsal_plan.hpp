// SPDX-License-Identifier: Apache-2.0
// What a rehearsal imitates: the numbers of a training that does not exist yet. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dts::train {

// Bytes for the whole job, for each node, or for each rank.
struct Amount {
  enum class Per { job, node, rank };

  double bytes = 0;
  Per per = Per::job;

  // The bytes of each of `ranks` ranks, `node_size` of which are on this node.
  [[nodiscard]] std::uint64_t of_rank(int ranks, int node_size) const;
};

struct RehearsalPlan {
  double parameters = 0;
  int parameter_bytes = 2;  // size of a gradient or weight in messages
  double step = 0;          // seconds of computation
  Amount checkpoint;
  Amount memory;  // held in addition

  // Bytes that each of `ranks` ranks sends per step: gradients to the ranks that sum them up, and
  // weights from there to all, (W - 1) / W of them each (R. Thakur, R. Rabenseifner and W. Gropp,
  // "Optimization of Collective Communication Operations in MPICH", 2005, section 4.5).
  [[nodiscard]] double sent_bytes(int ranks) const;

  // All of it, in the syntax of parse_rehearsal().
  [[nodiscard]] std::string text() const;
};

// Parses "params=7B,step=2.5s,checkpoint=84G/node", which may have:
//   params=COUNT[K|M|B|T]
//   precision=bf16|fp16|fp32
//   step=DURATION            (duration.hpp, and milliseconds: 300ms)
//   checkpoint=SIZE[/node|/rank]
//   memory=SIZE[/node|/rank]
// where a SIZE is a number of bytes with K, M, G or T (powers of 1000) or Ki, Mi, Gi or Ti (powers
// of 1024), optionally followed by B. Errc::usage names the wrong word.
[[nodiscard]] Result<RehearsalPlan> parse_rehearsal(std::string_view words);

// Parses such a SIZE into bytes; nullopt for anything else.
[[nodiscard]] std::optional<double> parse_bytes(std::string_view text);

}  // namespace dts::train
