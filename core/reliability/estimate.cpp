// SPDX-License-Identifier: Apache-2.0
#include "core/reliability/simulate.hpp"

#include <algorithm>
#include <cmath>

namespace dts::reliability {
namespace {

// The 97.5 % quantile of Student's t distribution.
double student(unsigned degrees) {
  constexpr double k_points[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                 2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  if (degrees <= std::size(k_points)) return k_points[degrees - 1];
  return 1.96 + 2.4 / degrees;  // to 0.001
}

}  // namespace

Result<Estimate> simulate(const Model& model, std::uint64_t seed, unsigned repetitions) {
  if (const Diagnostics problems = validate(model, repetitions); !problems.empty())
    return tl::unexpected<Error>(to_error(problems, Errc::usage));
  Estimate estimate{.repetitions = repetitions, .interval = interval_of(model), .goodput_least = 1};
  std::vector<double> goodputs;
  for (unsigned k = 0; k < repetitions; ++k) {
    const Outcome run = simulate_once(model, seed, k);
    for (std::size_t i = 0; i < k_states; ++i)
      estimate.time[i] += Seconds(run.time[i]) / repetitions;
    for (std::size_t i = 0; i < k_counts; ++i)
      estimate.count[i] += static_cast<double>(run.count[i]) / repetitions;
    estimate.events += run.events;
    goodputs.push_back(Seconds(run.of(State::computing)) / model.wall);
    estimate.goodput += goodputs.back() / repetitions;
    estimate.goodput_least = std::min(estimate.goodput_least, goodputs.back());
  }
  estimate.failures = estimate.of(Count::node_failures) + estimate.of(Count::switch_failures) +
                      estimate.of(Count::corruptions);
  if (repetitions == 1) return estimate;
  double squares = 0;
  for (const double goodput : goodputs)
    squares += (goodput - estimate.goodput) * (goodput - estimate.goodput);
  const double deviation = std::sqrt(squares / (repetitions - 1));
  estimate.goodput_error = student(repetitions - 1) * deviation / std::sqrt(repetitions);
  return estimate;
}

}  // namespace dts::reliability
