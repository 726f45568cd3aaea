// SPDX-License-Identifier: Apache-2.0
// What a rank of `dtsubmit doctor`'s probe found in its job: facts without a verdict. Plain data;
// reading and writing are pure and thread-safe.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::probe {

inline constexpr std::size_t k_largest_facts = std::size_t{1} << 16;  // bytes of a rank's file

// The maximum number of ranks, one per node: the probe only needs to test a pair of nodes.
inline constexpr unsigned k_most_ranks = 2;

// The other rank's clock relative to ours, from the exchange with the shortest round trip. The
// error is at most half of that trip.
struct Clocks {
  double offset = 0;      // s; positive: the other clock is ahead
  double round_trip = 0;  // s
  unsigned exchanges = 0;
};

// The result of `ssh OTHER true`, tried by rank 0.
struct Ssh {
  bool works = false;
  std::string said{};  // the last line of its output; empty: none
};

struct Facts {
  unsigned rank = 0;
  unsigned world = 1;
  std::string host;

  // About the other rank; absent or empty: there is none, or they did not meet.
  std::string other_host;
  std::string where;                   // address and port at which they met
  std::string trouble;                 // why they did not meet
  std::optional<double> met_after;     // s since our start
  std::optional<double> file_after;    // s until we saw a file that the other rank had written
  std::optional<Clocks> clocks;        // on rank 0 only
  std::optional<Ssh> ssh;              // on rank 0 only
  std::optional<bool> other_resolves;  // whether its host name resolves

  std::optional<std::uint64_t> memlock;  // bytes; absent: unlimited
  std::optional<std::uint64_t> nofile;
  std::vector<unsigned> cores;                // to which we are bound
  std::vector<unsigned> reachable;            // to which we could bind ourselves
  unsigned machine_cores = 0;                 // online on the machine
  std::string scratch;                        // TMPDIR or /tmp
  std::optional<std::uint64_t> scratch_free;  // bytes

  std::optional<double> warned_after;  // s from the job's warning signal to our SIGTERM
  std::string not_warned;              // why no warning could be sent; empty: it was
};

[[nodiscard]] std::string to_text(const Facts& facts);

// Errc::invalid for text that to_text() does not write. Members of later releases are skipped.
[[nodiscard]] Result<Facts> parse_facts(std::string_view text);

// The files of a rank in the run directory.
[[nodiscard]] std::string facts_file(const std::string& run, unsigned rank);
[[nodiscard]] std::string token_file(const std::string& run, unsigned rank);

}  // namespace dts::probe
