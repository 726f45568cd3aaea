// SPDX-License-Identifier: Apache-2.0
// The nodes of a simulated cluster: who fails, what is left of an allocation, what is being
// repaired.
#pragma once

#include "core/base/random.hpp"
#include "core/reliability/model.hpp"
#include "core/reliability/progress.hpp"

#include <deque>
#include <optional>
#include <vector>

namespace dts::reliability {

// Not thread-safe. `model` must outlive it.
class Nodes {
 public:
  explicit Nodes(const Model& model);

  // Failures per second of the allocation's nodes, infants apart.
  [[nodiscard]] double rate() const;

  struct Failure {
    bool lemon = false;
    bool quarantined = false;  // that was its last one
  };

  // One of the allocation's nodes has failed: which kind is drawn.
  Failure draw(Random& random);

  // Takes `count` nodes out of the allocation at `now`. True: spares take their place.
  bool replace(unsigned count, Nanoseconds now);

  // A new allocation at `now`; false: too few nodes work, see next_repair().
  bool allocate(Nanoseconds now);

  // When the next broken node is back; nullopt: none is broken.
  [[nodiscard]] std::optional<Nanoseconds> next_repair() const;

 private:
  struct Repair {
    Nanoseconds done;
    unsigned nodes;
  };

  const Model& model_;
  Nanoseconds repair_;
  std::vector<unsigned> lemon_failures_;  // of each lemon still in use
  unsigned spares_ = 0;
  unsigned broken_ = 0;
  std::deque<Repair> repairs_;  // in the order in which they end
};

}  // namespace dts::reliability
