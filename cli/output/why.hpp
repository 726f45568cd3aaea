// SPDX-License-Identifier: Apache-2.0
// Why a run is where it is, in sentences: a pure function of everything that is known of it.
#pragma once

#include "core/run/ledger/policy.hpp"
#include "core/run/summary/goodput.hpp"
#include "core/run/summary/summary.hpp"
#include "core/sched/scheduler.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dts::cli {

struct LastWords {
  std::string whose;  // "rank 3", "the batch script"
  std::string path;
  std::vector<std::string> lines;
};

// Times are Unix seconds; 0: not known.
struct Known {
  std::string run_directory;
  std::string name;  // what a command calls the run: a job id, or a quoted path
  std::vector<run::Event> events;
  run::RunSummary summary;
  run::Policy policy;
  sched::Phrases phrases;             // of the scheduler
  std::optional<sched::JobInfo> job;  // as it has it now
  std::string no_job;                 // why it has none, a clause; empty: never asked for
  unsigned nodes_needed = 0;          // by a job that waits, where it is known that fewer are up;
  unsigned nodes_up = 0;              // then that many of its partition are
  bool forgotten = false;             // it answered, and no longer knows the job
  std::map<unsigned, LastWords> last_words;  // by attempt: of the first rank that failed
  std::optional<LastWords> batch_words;      // of the batch script, where there are any
  std::optional<bool> agent_lives;           // where that can be seen from here
  std::string checkpoint;                    // the newest one; empty: none
  std::int64_t last_metric = 0;              // when metrics.jsonl last grew
  std::int64_t now = 0;
};

enum class Standing {
  pending,  // waits in the queue
  running,
  done,
  stopped,  // over, by a decision in the ledger
  lost,     // over, and the ledger has no end
  unknown,  // the ledger has no end, and the scheduler could not be asked
};

[[nodiscard]] const char* to_string(Standing standing);

struct AttemptWhy {
  unsigned number = 0;
  std::string head;               // "attempt 2 on n1,n2: 12 min 3 s, steps 60 to 140"
  std::string cause;              // "rank_killed: rank 3 on n2 ...", empty: goes on
  std::string then;               // "restart: crash 1 of at most 3: ..."
  std::vector<std::string> slow;  // "rank 3 on n2 is slow: ..."
};

struct Budget {
  std::string kind;
  unsigned used = 0;
  unsigned most = 0;
};

struct Why {
  Standing standing = Standing::unknown;
  std::vector<std::string> answer;      // sentences, the most important first
  std::vector<AttemptWhy> attempts;     // all of them, oldest first
  std::optional<LastWords> last_words;  // of the newest attempt that ended, or of the batch script
  std::vector<Budget> budgets;          // those with a limit, since the last `dtsubmit requeue`
  std::vector<std::string> next;        // what to do, commands as they are typed; empty: nothing
};

[[nodiscard]] Why explain(const Known& known);

// One screen: of the attempts the last few, of the last words the last ten lines.
[[nodiscard]] std::string to_text(const Why& why, const Known& known);

// For a user who has followed the run: what ended it, its last lines, and what to do; one line if
// it is done.
[[nodiscard]] std::string ending_text(const Why& why, const Known& known);

// A document of schema dtsubmit/why/1, with everything.
[[nodiscard]] std::string to_json(const Why& why, const Known& known);

}  // namespace dts::cli
