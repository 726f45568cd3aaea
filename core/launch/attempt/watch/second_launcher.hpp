// SPDX-License-Identifier: Apache-2.0
// Detects a launcher that was not visible when the job was submitted, for instance in a script.
// Each rank starts one, none of them knows of the others, and the processes below each are ranks 0,
// 1, 2, ... The sign is that ranks exist twice. Pure, not thread-safe.
#pragma once

#include "core/launch/wire/protocol.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dts::launch {

// Ranks of one world that were started below several of our ranks.
struct RanksTwice {
  std::vector<unsigned> ours;   // our ranks that started them, ascending
  std::vector<unsigned> ranks;  // ranks that exist more than once, ascending
  unsigned world_size = 0;      // the size of the world, as these ranks know it
  std::set<std::string> nodes;
  std::string launcher;  // "torchrun"; empty: not a known launcher
  std::string command;
};

// Ranks exist twice if two processes below different ranks of ours have the same rank in worlds of
// the same size, and
//  - use the same rendezvous, so that they are taken for one, or
//  - come from a known launcher and run the same program with the same arguments in the same
//  folder: both do the same training and overwrite each other's files.
// Therefore the following are not faults: one torchrun per node that knows of the others, a program
// that starts something with a rank of its own (a server of one process), and separate trainings,
// with different arguments, that each have a launcher.
class SecondLaunchers {
 public:
  // `launched`: what was found below `rank`; replaces what was found there before.
  void observe(unsigned rank, const std::string& node, Launched launched);
  void forget(unsigned rank);

  [[nodiscard]] bool any_below(unsigned rank) const { return below_.count(rank) > 0; }

  [[nodiscard]] bool are_ranks_twice() const { return twice_ > 0; }

  [[nodiscard]] std::optional<RanksTwice> ranks_twice() const;

  // For a launcher below `rank` that failed. It may have ended before it started processes, because
  // another launcher, started by the same command, had taken its port. Set if that other launcher
  // has started a whole world, which this one would have started again: because it is on the same
  // node, or cannot know of any other node.
  [[nodiscard]] std::optional<RanksTwice> ranks_beside(unsigned rank) const;

 private:
  struct Below {
    std::string node;
    Launched launched;
    std::set<std::string> claims{};
  };

  std::map<unsigned, Below> below_;                       // by rank
  std::map<std::string, std::set<unsigned>> claimed_by_;  // claim and the ranks that make it
  std::size_t twice_ = 0;                                 // claims made by more than one rank
};

// "torchrun runs below each of ranks 0,1 on n0, each time with ranks 0-7 of 8"
[[nodiscard]] std::string describe(const RanksTwice& twice);

}  // namespace dts::launch
