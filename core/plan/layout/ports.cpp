// SPDX-License-Identifier: Apache-2.0
// The ports that are tried for a program's own servers.
#include "core/base/hash.hpp"
#include "core/base/text/number_list.hpp"
#include "core/plan/plan.hpp"

#include <algorithm>
#include <numeric>

namespace dts::plan {
namespace {

constexpr unsigned k_first = 1024, k_last = 65535;

// At most `count` ports of `pool`, in an order that depends on `salt`.
std::vector<unsigned> pick(const std::vector<unsigned>& pool,
                           std::uint64_t salt,
                           std::size_t count) {
  std::vector<unsigned> ports;
  if (pool.empty()) return ports;
  // A walk with a step that shares no factor with the size visits every port once.
  std::uint64_t at = salt % pool.size();
  std::uint64_t step = 1 + (salt >> 32) % pool.size();
  while (std::gcd(step, pool.size()) != 1) ++step;
  while (ports.size() < std::min(count, pool.size())) {
    ports.push_back(pool[at]);
    at = (at + step) % pool.size();
  }
  return ports;
}

}  // namespace

std::vector<unsigned> master_port_candidates(const std::string& run,
                                             unsigned attempt,
                                             unsigned ephemeral_low,
                                             unsigned ephemeral_high,
                                             unsigned count) {
  std::vector<unsigned> outside, inside;
  for (unsigned port = k_first; port <= k_last; ++port)
    (port < ephemeral_low || port > ephemeral_high ? outside : inside).push_back(port);
  const std::uint64_t salt = hash64(run + "/" + std::to_string(attempt));
  std::vector<unsigned> ports = pick(outside, salt, count);
  const std::vector<unsigned> rest = pick(inside, salt, count - ports.size());
  ports.insert(ports.end(), rest.begin(), rest.end());
  return ports;
}

std::vector<unsigned> parse_ports(std::string_view text) {
  if (text.size() > 1 && text.front() == '[' && text.back() == ']')
    text = text.substr(1, text.size() - 2);
  const auto ports = parse_number_list(text, k_last);
  if (!ports || std::find(ports->begin(), ports->end(), 0U) != ports->end()) return {};
  return *ports;
}

}  // namespace dts::plan
