// SPDX-License-Identifier: Apache-2.0
// Situations of a run, and the sentences that `dtsubmit why` must say of each.
#pragma once

#include "cli/output/why.hpp"
#include "core/base/text/units.hpp"
#include "plugins/slurm_shared/job_words.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

namespace dts::cli {

using run::Event;
using sched::JobState;

inline std::int64_t at(int second) {
  return std::chrono::system_clock::to_time_t(*parse_utc("2026-01-02T03:00:00Z")) + second;
}

inline std::string time(int second) {
  return format_utc(std::chrono::system_clock::from_time_t(at(second)));
}

// Events of a run on job 41; `now` is 1000 s after its creation.
struct RunEvents {
  RunFacts known;

  explicit RunEvents(JobId job = JobId(41)) : job_(job) {
    known.run_directory = "/runs/r";
    known.name = !job.empty() ? job.text() : "/runs/r";
    known.policy = run::default_policy();
    known.now = at(1000);
    known.phrases = {.name = slurm_plugin::k_name,
                     .cancel = slurm_plugin::k_cancel,
                     .accounting = slurm_plugin::k_accounting,
                     .forgets = slurm_plugin::k_forgets,
                     .nodes_away = slurm_plugin::k_nodes_away};
    note({.time = time(0), .what = run::Created{}});
    if (!job.empty()) note({.time = time(1), .what = run::Submitted{}});
  }

  RunEvents& note(Event event) {
    if (!event.is<run::Created>()) event.job = job_;
    known.events.push_back(std::move(event));
    known.summary = run::summarise(known.events, metrics_);
    return *this;
  }

  RunEvents& begin(unsigned attempt, int second) {
    note({.time = time(second),
          .attempt = attempt,
          .what = run::AttemptStarted{.nodes = {"n1", "n2"}}});
    return note({.time = time(second + 5), .attempt = attempt, .what = run::RanksStarted{}});
  }

  RunEvents& end(unsigned attempt, int second, const char* cause, int code = 1) {
    note({.time = time(second),
          .attempt = attempt,
          .what = run::AttemptEnded{.cause = run::Recorded<run::Cause>::named(cause),
                                    .exit_code = code,
                                    .detail = "rank 3 on n2: told",
                                    .rank = 3,
                                    .node = "n2"}});
    known.last_words[attempt] = {
        "rank 3", "/runs/r/attempt-1/rank-3.log", {"first", "out of luck"}};
    return *this;
  }

  RunEvents& saves_otherwise() {
    known.events.back().as<run::AttemptEnded>()->saved = true;
    return *this;
  }

  RunEvents& decide(
      unsigned attempt, int second, const char* decision, const char* why, int code = 1) {
    return note({.time = time(second),
                 .attempt = attempt,
                 .what = run::Decided{.exit_code = code,
                                      .decision = run::Recorded<run::Action>::named(decision),
                                      .detail = why}});
  }

  RunEvents& metrics(const std::string& text) {
    metrics_ = text;
    known.summary = run::summarise(known.events, metrics_);
    known.last_metric = at(993);
    return *this;
  }

  RunEvents& slurm(JobState state, const char* reason, int code = 0, int signal = 0) {
    sched::JobInfo job;
    job.id = job_;
    job.state = state;
    job.reason = reason;
    job.exit_code = code;
    job.exit_signal = signal;
    known.job = job;
    return *this;
  }

  RunEvents& knows(const std::function<void(RunFacts&)>& change) {
    change(known);
    return *this;
  }

  RunEvents& with(const std::function<void(sched::JobInfo&)>& change) {
    change(*known.job);
    return *this;
  }

 private:
  JobId job_;
  std::string metrics_;
};

struct Situation {
  const char* name;
  RunEvents story;
  Standing standing;
  std::vector<const char*> said;
  std::vector<const char*> not_said{};
};

// What the plug-in says of the job beside its reason.
inline void add_words(RunFacts& known) {
  if (!known.job) return;
  sched::JobInfo& job = *known.job;
  const bool pending = job.state == JobState::pending;
  const slurm_plugin::JobWords words =
      slurm_plugin::words_of({.state = to_string(job.state),
                              .preparing = job.preparing,
                              .reason = job.reason,
                              .description = job.description,
                              .was_requeued = job.restart_count > 0,
                              .exit_code = job.exit_code,
                              .exit_signal = job.exit_signal});
  job.explanation = words.why;
  job.advice = words.advice;
  if (pending && slurm_plugin::waits_for(job.reason) == "time") job.wait = sched::Wait::time;
  if (pending && !slurm_plugin::has_planned_start(job.reason)) job.start_time = 0;
  job.unlimited = slurm_plugin::has_no_limit(job.start_time, job.end_time, 0);
  if (job.reason == "None") job.reason.clear();
}

inline void check(const std::vector<Situation>& situations) {
  for (Situation situation : situations) {
    add_words(situation.story.known);
    const Explanation why = explain(situation.story.known);
    const std::string text = to_text(why, situation.story.known);
    CAPTURE(situation.name);
    CAPTURE(text);
    CHECK(why.standing == situation.standing);
    for (const char* words : situation.said) {
      CAPTURE(words);
      CHECK(text.find(words) != std::string::npos);
    }
    for (const char* words : situation.not_said) {
      CAPTURE(words);
      CHECK(text.find(words) == std::string::npos);
    }
    CHECK(std::count(text.begin(), text.end(), '\n') <= 40);  // one screen
  }
}

}  // namespace dts::cli
