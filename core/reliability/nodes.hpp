// SPDX-License-Identifier: Apache-2.0
// The nodes of a simulated cluster: which of them fail, are left in the allocation, and are under
// repair.
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

  // Failures per second of the allocation's nodes, without infants.
  [[nodiscard]] double rate() const;

  struct Failure {
    bool lemon = false;
    bool quarantined = false;  // this was its last failure
  };

  // One of the allocation's nodes has failed; draws its kind.
  Failure draw(Random& random);

  // Removes `count` nodes from the allocation at `now`; true if spare nodes replace them.
  bool replace(unsigned count, Nanoseconds now);

  // Makes a new allocation at `now`; false if too few nodes work, see next_repair().
  bool allocate(Nanoseconds now);

  // The time at which the next broken node is back; nullopt if none is broken.
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
  std::deque<Repair> repairs_;  // ordered by their ends
};

}  // namespace dts::reliability
