// SPDX-License-Identifier: Apache-2.0
// Explains a run's state in sentences: a pure function of everything known about it.
#pragma once

#include "core/run/ledger/policy.hpp"
#include "core/run/summary/explain.hpp"
#include "core/run/summary/goodput.hpp"
#include "core/run/summary/summary.hpp"
#include "core/sched/scheduler.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dts::cli {

using run::LastWords;

// Times are Unix seconds; 0: unknown.
struct RunFacts {
  std::string run_directory;
  std::string name;  // how commands refer to the run: a job id, or a quoted path
  std::vector<run::Event> events;
  run::RunSummary summary;
  run::Policy policy;
  sched::Phrases phrases;             // the scheduler's
  std::optional<sched::JobInfo> job;  // its current record
  std::string no_job;                 // why there is no record, as a clause; empty: never queried
  unsigned nodes_needed = 0;          // by a pending job, set if fewer are known to be up
  unsigned nodes_up = 0;              // nodes up in its partition, in that case
  bool forgotten = false;             // the scheduler answered and no longer knows the job
  bool reused = false;                // forgotten, and its id is another job's now
  std::map<unsigned, LastWords>
      last_words;  // by attempt: of the first failed rank, or the launcher
  std::optional<run::LastError> last_error;  // of an attempt that runs
  std::optional<LastWords> batch_words;      // of the batch script, if any
  std::optional<bool> agent_lives;           // if that is visible from here
  std::string bash_env;          // BASH_ENV at submission, if no attempt has begun; empty: none
  std::string checkpoint;        // the newest one; empty: none
  std::string own_checkpoints;   // --checkpoints
  std::int64_t last_metric = 0;  // when metrics.jsonl last grew
  std::int64_t now = 0;
};

enum class Standing {
  pending,  // in the queue
  running,
  done,
  stopped,    // ended by a decision in the ledger
  cancelled,  // while it waited in the queue
  lost,       // ended without a record in the ledger
  unknown,    // no end in the ledger, and the scheduler could not be queried
};

[[nodiscard]] const char* to_string(Standing standing);

struct AttemptExplanation {
  unsigned number = 0;
  std::string head;               // "attempt 2 on n1,n2: 12 min 3 s, steps 60 to 140"
  std::string cause;              // "rank_killed: rank 3 on n2 ...", empty: still running
  std::string then;               // "restart: crash 1 of at most 3: ..."
  std::string continued;          // "asked for by `dtsubmit requeue` with --nodes=2"
  std::vector<std::string> slow;  // "rank 3 on n2 is slow: ..."
};

struct Budget {
  std::string kind;
  unsigned used = 0;
  unsigned most = 0;
};

struct Explanation {
  Standing standing = Standing::unknown;
  std::vector<std::string> answer;           // sentences, the most important first
  std::vector<AttemptExplanation> attempts;  // all of them, oldest first
  std::optional<LastWords> last_words;  // of the latest attempt that ended, or of the batch script
  std::vector<Budget> budgets;          // those with a limit, since the last `dtsubmit requeue`
  std::vector<std::string> next;        // suggested commands, as they are typed; empty: none
};

[[nodiscard]] Explanation explain(const RunFacts& known);

// One screen: the last few attempts, and the last ten lines of the last words.
[[nodiscard]] std::string to_text(const Explanation& why, const RunFacts& known);

// For a user who followed the run: why it ended, its last lines, and what to do next; only one line
// if the run is done.
[[nodiscard]] std::string ending_text(const Explanation& why, const RunFacts& known);

// The complete information as a document of schema dtsubmit/why/1.
[[nodiscard]] std::string to_json(const Explanation& why, const RunFacts& known);

}  // namespace dts::cli
