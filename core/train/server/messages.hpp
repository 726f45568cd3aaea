// SPDX-License-Identifier: Apache-2.0
// The messages between workers and servers of asynchronous training, which precede sums of
// gradients and follow weights. Plain data.
#pragma once

#include "core/train/comm/group.hpp"
#include "core/train/model/layout.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace dts::train {

// Facts that a rank must tell all others. They spread gradually, with each message; after the next
// synchronisation all ranks know them.
enum Sign : std::uint32_t {
  k_stop_sign = 1,     // a signal has arrived
  k_error_sign = 2,    // a file could not be written
  k_writing_sign = 4,  // it is writing its part of a checkpoint
  k_broken_sign = 8,   // a value is not finite, or was changed
};

// The sums of a synchronous step that have the same meaning.
inline constexpr std::array<std::pair<Sign, Scalar>, 4> k_signs{{{k_stop_sign, Scalar::stop},
                                                                 {k_error_sign, Scalar::error},
                                                                 {k_writing_sign, Scalar::writing},
                                                                 {k_broken_sign, Scalar::damage}}};

// Comes with a worker's gradient and, to the first server, with its sums of everything else.
struct Push {
  std::uint64_t step = 0;      // number of completed steps before it
  std::uint64_t awaits = 0;    // 1: a synchronisation follows; no weights are needed
  std::uint64_t checksum = 0;  // of the gradient, if sealed
};

// Sent at once, even if the worker must wait, so that it knows that the server is alive.
struct Answer {
  std::uint64_t sync = 0;  // from the first server: the step of the next synchronisation
  std::uint64_t signs = 0;
};

// Values for Group::set_patience(). A rank that disappears should be reported first by those that
// wait for it, and not by those that wait for these in turn. The differences, in timeouts, are
// upper limits for the duration of a step.
inline constexpr double k_answer_patience = 0.75;   // a worker, for an answer or its node's sums
inline constexpr double k_weights_patience = 1.25;  // a worker, for weights, which may be held back
inline constexpr double k_node_patience = 1.5;      // other ranks of its node

}  // namespace dts::train
