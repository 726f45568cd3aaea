// SPDX-License-Identifier: Apache-2.0
// What a worker and a server of asynchronous training send each other, before sums of gradients and
// after weights. Plain data.
#pragma once

#include "core/train/comm/group.hpp"
#include "core/train/model/layout.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace dts::train {

// What a rank has to say to all others, who learn it by and by: it is passed on with each message,
// and at the next synchronisation everybody knows.
enum Sign : std::uint32_t {
  k_stop_sign = 1,     // a signal has come
  k_error_sign = 2,    // a file could not be written
  k_writing_sign = 4,  // its part of a checkpoint is being written
  k_broken_sign = 8,   // something is not finite, or not what it was
};

// As the sums of a step have it that ranks add up in a synchronous step.
inline constexpr std::array<std::pair<Sign, Scalar>, 4> k_signs{{{k_stop_sign, Scalar::stop},
                                                                 {k_error_sign, Scalar::error},
                                                                 {k_writing_sign, Scalar::writing},
                                                                 {k_broken_sign, Scalar::damage}}};

// Comes with the worker's gradient, and, to the first server, with its sums of everything else.
struct Push {
  std::uint64_t step = 0;      // completed before it
  std::uint64_t awaits = 0;    // 1: a synchronisation follows, and no weights are needed
  std::uint64_t checksum = 0;  // of the gradient, if sealed
};

// At once, whether or not the worker may go on: so it knows that the server is there.
struct Answer {
  std::uint64_t sync = 0;  // of the first server: at which step the next synchronisation is
  std::uint64_t signs = 0;
};

// The times of Group::set_patience(). A rank that is gone is reported first by those who wait for
// it, not by those who wait for these. Its share of the timeout in which one is ahead of the other
// is what a step may take at most.
inline constexpr double k_answer_patience = 0.75;   // a worker, for an answer; for its node's sums
inline constexpr double k_weights_patience = 1.25;  // a worker, for weights: perhaps held back
inline constexpr double k_node_patience = 1.5;      // the rest of its node

}  // namespace dts::train
