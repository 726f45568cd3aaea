// SPDX-License-Identifier: Apache-2.0
// How often to save, and the share of time left for computing, in closed form. Pure, thread-safe.
//
// Failures are a Poisson process with a mean of `mttf` between them (infinite: none). `save` is the
// time for which a checkpoint keeps the ranks from computing; `interval` is the computing time
// between two checkpoints, without the save.
#pragma once

#include "core/base/text/duration.hpp"

namespace dts::reliability {

// The mean time to failure of a job on `nodes` nodes if each node fails `rate` times in 1000 days,
// independently of the others. Both at least 0; infinite if their product is 0.
[[nodiscard]] Seconds mean_time_to_failure(double nodes, double rate);

// sqrt(2 save mttf): Young 1974, doi 10.1145/361147.361115. Good if save is far below mttf.
[[nodiscard]] Seconds young_interval(Seconds save, Seconds mttf);

// Daly 2006, doi 10.1016/j.future.2004.11.016, equation 37, for any save >= 0 and mttf > 0; mttf
// itself if save >= 2 mttf.
[[nodiscard]] Seconds daly_interval(Seconds save, Seconds mttf);

// The interval to advise: Daly's, but at least a second, since a program saves between steps.
[[nodiscard]] Seconds checkpoint_interval(Seconds save, Seconds mttf);

// The expected time to failure of a run on `nodes` nodes (at least 1) without further information:
// its nodes fail at the highest published rate (RSC-1: 6.5 in 1000 node-days, Kokolis et al., HPCA
// 2025), and something else, mostly software, ends it once a day. The latter is an educated guess:
// jobs on 128 such nodes were measured to fail 3.6 times as often as their nodes do, which is twice
// a day more.
[[nodiscard]] Seconds expected_time_to_failure(unsigned nodes);

// The same after `failures` observed failures in the time `running`: (expectation + running) / (1 +
// failures), the mean rate of a Poisson process with a Gamma prior worth one failure (Gelman et
// al., Bayesian Data Analysis, 3rd edition, section 2.6).
[[nodiscard]] Seconds learnt_time_to_failure(Seconds expectation,
                                             unsigned failures,
                                             Seconds running);

// The expected ratio of effective training time (ETTR) of Kokolis et al., HPCA 2025 (arXiv
// 2410.21680), for one long run that does not queue behind others; `recovery` is u0, from the
// failure to the first step after it. It assumes half an interval lost at each failure, and so
// holds only if interval + recovery is well below mttf; 0 if it would be negative.
[[nodiscard]] double kokolis_ettr(Seconds interval, Seconds save, Seconds mttf, Seconds recovery);

// The same by renewal theory, also valid for frequent failures (Daly 2006, section 3). `idle` is
// the part of the recovery in which a failure does no harm (detecting, queueing), `start` the part
// that a failure restarts (starting, loading); Daly's model has idle = 0.
[[nodiscard]] double renewal_ettr(
    Seconds interval, Seconds save, Seconds mttf, Seconds idle, Seconds start = Seconds(0));

}  // namespace dts::reliability
