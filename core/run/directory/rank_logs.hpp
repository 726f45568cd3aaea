// SPDX-License-Identifier: Apache-2.0
// The logs of an attempt's ranks, several on one terminal. For use by one thread at a time.
#pragma once

#include "core/base/result.hpp"
#include "core/run/directory/log_follower.hpp"
#include "core/run/directory/run_directory.hpp"

#include <map>
#include <string>
#include <vector>

namespace dts::run {

struct RankSelection {
  bool all = false;
  std::vector<unsigned> ranks{};  // ascending, without repetition; ignored if `all`
};

// The value of --ranks: "all", or numbers and ranges: "0", "0,4-7". Errc::usage for anything else.
[[nodiscard]] Result<RankSelection> parse_ranks(const std::string& text);

[[nodiscard]] bool is_selected(const RankSelection& selection, unsigned rank);

// The last lines of a log, at most `lines` lines and 64 KiB, each without its newline. Empty if
// there is no log.
[[nodiscard]] std::vector<std::string> last_lines(const std::string& path, std::size_t lines);

// The last lines that the launcher, or a rank's program before it had a log, wrote into agent.log:
// all that do not begin with a time, as the agent's own do. Open MPI's mpirun prints there what
// MPI_Init says.
[[nodiscard]] std::vector<std::string> launcher_lines(const RunDirectory& run,
                                                      unsigned attempt,
                                                      std::size_t lines);

// The lines of a set-up's log that say what failed last, at most `most`: the last ones, or those
// from the beginning of Lmod's last report, which ends with advice. No empty line is the last.
[[nodiscard]] std::vector<std::string> last_lines_of_set_up(const std::string& path,
                                                            std::size_t most);

// Log of a node's set-up and tear-down.
[[nodiscard]] std::string set_up_log(const RunDirectory& run, unsigned attempt, std::string node);

// The file that says where the files staged on a node are.
[[nodiscard]] std::string stage_record(const RunDirectory& run, unsigned attempt, std::string node);

class RankLogs {
 public:
  RankLogs(const RunDirectory& run, unsigned attempt, RankSelection selection);

  // Writes new output to `fd`, at most 1 MiB of each log, which limits how long a rank that floods
  // its log delays the others. With several ranks, each line is complete and begins with "[R] ",
  // and logs that appear later are included. True if there was any output. Error: `fd` takes no
  // more; what it did not take is not written again.
  Result<bool> copy_to(int fd);

  // Writes all remaining output. Call it when no rank writes any more. Error: as copy_to().
  Result<void> copy_rest(int fd);

 private:
  void find_new();

  RunDirectory run_;
  unsigned attempt_;
  bool all_;
  std::map<unsigned, LogFollower> logs_;
};

}  // namespace dts::run
