// SPDX-License-Identifier: Apache-2.0
// What a rank of the probe of `dtsubmit doctor` has found in its job: facts without a verdict.
// Plain data; reading and writing are pure and thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::probe {

inline constexpr std::size_t k_largest_facts = std::size_t{1} << 16;  // bytes of a rank's file

// The most ranks, one a node: what is between two nodes is what is asked.
inline constexpr unsigned k_most_ranks = 2;

// The clock of the other rank against ours, from the exchange with the shortest round trip: the
// truth is within half of that trip.
struct Clocks {
  double offset = 0;      // s; positive: the other one is ahead
  double round_trip = 0;  // s
  unsigned exchanges = 0;
};

// What `ssh OTHER true` came to, as rank 0 tried it.
struct Ssh {
  bool works = false;
  std::string said{};  // its last line; empty: nothing
};

struct Facts {
  unsigned rank = 0;
  unsigned world = 1;
  std::string host;

  // Of the other rank; absent or empty: there is none, or they did not meet.
  std::string other_host;
  std::string where;                   // at which address and port they met
  std::string trouble;                 // why they did not
  std::optional<double> met_after;     // s from our start
  std::optional<double> file_after;    // s until we saw the file that it had written
  std::optional<Clocks> clocks;        // rank 0's
  std::optional<Ssh> ssh;              // rank 0's
  std::optional<bool> other_resolves;  // its host name

  std::optional<std::uint64_t> memlock;  // bytes; absent: unlimited
  std::optional<std::uint64_t> nofile;
  std::vector<unsigned> cores;                // we are bound to these
  std::vector<unsigned> reachable;            // could bind ourselves to these
  unsigned machine_cores = 0;                 // that are online
  std::string scratch;                        // TMPDIR or /tmp
  std::optional<std::uint64_t> scratch_free;  // bytes

  std::optional<double> warned_after;  // s from the job's warning signal to our SIGTERM
  std::string not_warned;              // why it could not be sent; empty: it was
};

[[nodiscard]] std::string to_text(const Facts& facts);

// Errc::invalid if it is not what to_text() writes. Members of later releases are skipped.
[[nodiscard]] Result<Facts> parse_facts(std::string_view text);

// The files of a rank in the run directory.
[[nodiscard]] std::string facts_file(const std::string& run, unsigned rank);
[[nodiscard]] std::string token_file(const std::string& run, unsigned rank);

}  // namespace dts::probe
