// SPDX-License-Identifier: Apache-2.0
// A launcher that nobody saw before the job was submitted, in a script for instance: one is started
// for each rank, none knows of the others, and the processes of each think that they are ranks 0,
// 1, 2, ... Judged by ranks that exist twice. Pure, not thread-safe.
#pragma once

#include "core/launch/wire/protocol.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace dts::launch {

// The same ranks of one world, started below several of our ranks.
struct RanksTwice {
  std::vector<unsigned> ours;   // below which they are, ascending
  std::vector<unsigned> ranks;  // that are there more than once, ascending
  unsigned world_size = 0;      // as they know it
  std::set<std::string> nodes;
  std::string launcher;  // "torchrun"; empty: not one that we know
  std::string command;
};

// Ranks are there twice where two processes below different ranks of ours have the same rank of a
// world of the same size, and
//  - are to meet at the same place, so that they are taken for one, or
//  - come from a known launcher and run the same program, with the same arguments, in the same
//    folder: both train the same and overwrite each other's files.
// So one torchrun on each node that knows of the others is no fault, nor is a program that starts
// something with a rank of its own (a server of one process), nor trainings apart from each other
// (other arguments) that each have a launcher.
class SecondLaunchers {
 public:
  // What was found below `rank`, which takes the place of what was found before.
  void see(unsigned rank, const std::string& node, Launched launched);
  void forget(unsigned rank);

  [[nodiscard]] bool any_below(unsigned rank) const { return below_.count(rank) > 0; }

  [[nodiscard]] bool are_ranks_twice() const { return twice_ > 0; }

  [[nodiscard]] std::optional<RanksTwice> ranks_twice() const;

  // Where the launcher below `rank` has failed: it may not have got so far as to start processes,
  // because another one, started by the same words, had taken its port. Set where that one has
  // started a whole world, all of which this one would have started again: on the same node, or
  // one that can know of no other node.
  [[nodiscard]] std::optional<RanksTwice> ranks_beside(unsigned rank) const;

 private:
  struct Below {
    std::string node;
    Launched launched;
    std::set<std::string> claims{};
  };

  std::map<unsigned, Below> below_;                       // by rank
  std::map<std::string, std::set<unsigned>> claimed_by_;  // the ranks that claim the same
  std::size_t twice_ = 0;                                 // claims of more than one rank
};

// "torchrun runs below each of ranks 0,1 on n0, each time with ranks 0-7 of 8"
[[nodiscard]] std::string describe(const RanksTwice& twice);

}  // namespace dts::launch
