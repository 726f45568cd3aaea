// SPDX-License-Identifier: Apache-2.0
// runs/<name>-<time>-<id>/: where a run keeps its files, and how one attempt at a time owns it.
#pragma once

#include "core/base/result.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dts::run {

// The names of the files in a run directory. A value: copies are cheap.
struct RunDirectory {
  std::string path;

  [[nodiscard]] std::string spec() const { return path + "/spec.json"; }

  [[nodiscard]] std::string plan() const { return path + "/plan.json"; }

  [[nodiscard]] std::string script() const { return path + "/script.sbatch"; }

  [[nodiscard]] std::string provenance() const { return path + "/provenance.json"; }

  [[nodiscard]] std::string diff() const { return path + "/source.diff"; }

  [[nodiscard]] std::string snapshot() const { return path + "/snapshot"; }

  // In a sweep: its elements. Their run directories are below this one, named by index.
  [[nodiscard]] std::string sweep() const { return path + "/sweep.json"; }

  // A change of the files above that is not complete yet; see amendment.hpp.
  [[nodiscard]] std::string amendment() const { return path + "/amendment.json"; }

  // The next job of a run, waiting in the queue (--chain).
  [[nodiscard]] std::string chain() const { return path + "/chain.json"; }

  // In an element of a sweep: which element it is.
  [[nodiscard]] std::string element() const { return path + "/element.json"; }

  [[nodiscard]] std::string ledger() const { return path + "/ledger.jsonl"; }

  [[nodiscard]] std::string metrics() const { return path + "/metrics.jsonl"; }

  [[nodiscard]] std::string checkpoints() const { return path + "/checkpoints"; }

  [[nodiscard]] std::string attempt(unsigned number) const {
    return path + "/attempt-" + std::to_string(number);
  }

  [[nodiscard]] std::string agent_log(unsigned number) const {
    return attempt(number) + "/agent.log";
  }

  [[nodiscard]] std::string rank_log(unsigned number, unsigned rank) const {
    return attempt(number) + "/rank-" + std::to_string(rank) + ".log";
  }
};

// True if there is a ledger, or a plan whose ledger has been lost.
[[nodiscard]] bool is_run_directory(const std::string& path);

struct Files {
  std::string spec;
  std::string plan;
  std::string script;  // empty: none (`dtsubmit run`)
  std::string provenance;
  std::string ledger;  // its first lines
  std::string diff{};  // changes of the source tree since its commit; empty: none
  // Adds further contents before any reader sees the folder; may be null.
  std::function<Result<void>(const RunDirectory& staging)> more{};
  // In a composed run: the run directories of its parts, below its own.
  std::vector<Files> parts{};
  std::string sweep{};    // empty: none
  std::string element{};  // empty: none
  std::string folder{};   // for a part of a composed run: its part_folder()
};

// The last component of the run's path; for an element of a sweep, "<sweep>-<index>".
[[nodiscard]] std::string run_name(const RunDirectory& run);

// True if the name of `a` was generated before that of `b`, as far as clocks agree.
[[nodiscard]] bool is_older(const RunDirectory& a, const RunDirectory& b);

// "<name>-<YYYYmmddTHHMMSS>-<6 hex digits>". The digits divide the second into sixteen million
// parts, so that names sort by creation time; names from one process are unique.
[[nodiscard]] std::string run_name(const std::string& name,
                                   std::chrono::system_clock::time_point now);

// Creates <root>/<run>/ (mode 0700) atomically: a reader sees either all the files or no folder.
// Durable only after sync_run_directory(), so that waiting for the disk can overlap the submission.
[[nodiscard]] Result<RunDirectory> create_run_directory(const std::string& root,
                                                        const std::string& run,
                                                        const Files& files);
[[nodiscard]] Result<void> sync_run_directory(const RunDirectory& run);

// Takes the next attempt number. attempt-<k>/epoch is created with O_EXCL, so that no two agents
// get the same number, and checkpoints/fence is raised to it, so that commits of older attempts are
// refused. `lease` (JSON) is written into the epoch file and says who holds the attempt.
[[nodiscard]] Result<unsigned> take_attempt(const RunDirectory& run, const std::string& lease);

// Makes what take_attempt() wrote durable. Call it before a rank may commit anything.
[[nodiscard]] Result<void> sync_attempt(const RunDirectory& run, unsigned number);

// When the first attempt was taken, by the clock of the file system; nullopt: none has been.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> began(const RunDirectory& run);

// The highest attempt taken so far; 0: none.
[[nodiscard]] unsigned latest_attempt(const RunDirectory& run);

// The name of the checkpoint with the highest step ("step-000000120", "step-120.pt"), which shows
// progress; empty if there is none.
[[nodiscard]] std::string newest_checkpoint(const RunDirectory& run);

// The paths that match a pattern, glob(7) with {a,b} and ~, and were changed after a time: a file
// that is not empty, or the newest file of a folder, which is looked into as deep as checkpoints/.
struct Matches {
  std::string newest;  // not visibly incomplete; empty: none
  std::filesystem::file_time_type changed;
  bool has_incomplete = false;
};

[[nodiscard]] Matches matches_of(const std::string& pattern, std::filesystem::file_time_type since);
// The newest of those changed since this attempt of the run began.
[[nodiscard]] std::string newest_match(const std::string& pattern,
                                       const RunDirectory& run,
                                       unsigned attempt);

// True if checkpoint `a` has a higher step than `b`, regardless of the number of digits; every name
// is later than the empty one.
[[nodiscard]] bool is_later_checkpoint(const std::string& a, const std::string& b);

// The text of metrics.jsonl, which the program writes; empty if it is absent or not ours.
[[nodiscard]] std::string read_metrics(const RunDirectory& run);

// When metrics.jsonl last grew, by the clock of its file system; nullopt if it is absent.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> last_report(
    const RunDirectory& run);

// True if the program has written to checkpoints/ since `attempt` began, under names of its own
// ("last.pt"); compares only times of the file system, not clocks.
[[nodiscard]] bool saves_otherwise(const RunDirectory& run, unsigned attempt);

// The current time by the clock of the ledger's file system, if an event has just been recorded.
[[nodiscard]] std::optional<std::filesystem::file_time_type> time_of_last_event(
    const RunDirectory& run);

// True if the program has written to checkpoints/ after `time`, under whatever name, and no file
// written since is visibly incomplete.
[[nodiscard]] bool has_saved_after(const RunDirectory& run, std::filesystem::file_time_type time);

}  // namespace dts::run
