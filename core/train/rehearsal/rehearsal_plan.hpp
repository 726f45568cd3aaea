// SPDX-License-Identifier: Apache-2.0
// What a rehearsal stands for: the numbers of a training that is not there yet. Pure, thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dts::train {

// Bytes of the whole job, of each of its nodes, or of each rank.
struct Amount {
  enum class Per { job, node, rank };

  double bytes = 0;
  Per per = Per::job;

  // What that is for each of `ranks` ranks, `node_size` of which are on this node.
  [[nodiscard]] std::uint64_t of_rank(int ranks, int node_size) const;
};

struct RehearsalPlan {
  double parameters = 0;
  int parameter_bytes = 2;  // as a gradient or a weight travels
  double step = 0;          // seconds of computing
  Amount checkpoint;
  Amount memory;  // that is held beside

  // What each of `ranks` ranks sends in a step: the gradients to those who sum them up, and the
  // weights from there to all, (W - 1) / W of them each (R. Thakur, R. Rabenseifner and W. Gropp,
  // "Optimization of Collective Communication Operations in MPICH", 2005, section 4.5).
  [[nodiscard]] double sent_bytes(int ranks) const;

  // All of it, as parse_rehearsal() reads it.
  [[nodiscard]] std::string text() const;
};

// "params=7B,step=2.5s,checkpoint=84G/node": some of
//   params=COUNT[K|M|B|T]
//   precision=bf16|fp16|fp32
//   step=DURATION            (duration.hpp, and milliseconds: 300ms)
//   checkpoint=SIZE[/node|/rank]
//   memory=SIZE[/node|/rank]
// where a SIZE is a number of bytes with K, M, G or T (powers of 1000) or Ki, Mi, Gi or Ti (of
// 1024), perhaps followed by B. Errc::usage names the word that is wrong.
[[nodiscard]] Result<RehearsalPlan> parse_rehearsal(std::string_view words);

// Such a SIZE, in bytes; nullopt for anything else.
[[nodiscard]] std::optional<double> parse_bytes(std::string_view text);

}  // namespace dts::train
