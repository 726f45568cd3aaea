// SPDX-License-Identifier: Apache-2.0
// The goodput of a model in closed form: a check on the simulation, and a prediction for drills.
#pragma once

#include "core/reliability/model.hpp"

#include <optional>

namespace dts::reliability {

// The share of wall time, 0 to 1, that a valid model computes in the long run, by renewal-reward
// between two events that stop it (interval.hpp's renewal_ettr() if all of them are failures). The
// first start and the end of the observed time are ignored. nullopt for anything without such a
// form: infants, silent corruption, a quarantine of lemons, or a cluster that runs out of nodes.
// Pure, thread-safe.
[[nodiscard]] std::optional<double> expected_goodput(const Model& model);

// Mean time from an event that stops the run to the first step after it (u0 of kokolis_ettr()),
// excluding the time lost if the start fails, too. Preconditions as above.
[[nodiscard]] Seconds mean_recovery(const Model& model);

}  // namespace dts::reliability
