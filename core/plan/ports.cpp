// SPDX-License-Identifier: Apache-2.0
#include "core/base/hash.hpp"
#include "core/plan/plan.hpp"

#include <algorithm>
#include <numeric>

namespace dts::plan {

std::vector<unsigned> master_port_candidates(const std::string& run,
                                             unsigned attempt,
                                             unsigned ephemeral_low,
                                             unsigned ephemeral_high,
                                             unsigned count) {
  constexpr unsigned k_first = 1024, k_last = 65535;
  std::vector<unsigned> pool;
  for (unsigned port = k_first; port <= k_last; ++port)
    if (port < ephemeral_low || port > ephemeral_high) pool.push_back(port);
  if (pool.empty()) return {};
  // A walk with a step that shares no factor with the size visits every port once.
  const std::uint64_t salt = hash64(run + "/" + std::to_string(attempt));
  std::uint64_t at = salt % pool.size();
  std::uint64_t step = 1 + (salt >> 32) % pool.size();
  while (std::gcd(step, pool.size()) != 1) ++step;
  std::vector<unsigned> ports;
  while (ports.size() < std::min<std::size_t>(count, pool.size())) {
    ports.push_back(pool[at]);
    at = (at + step) % pool.size();
  }
  return ports;
}

}  // namespace dts::plan
