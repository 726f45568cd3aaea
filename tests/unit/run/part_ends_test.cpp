// SPDX-License-Identifier: Apache-2.0
// What the ends of parts mean for the whole run, and where parts are kept.
#include "core/run/ledger/part_ends.hpp"

#include "core/base/files/files.hpp"
#include "core/run/directory/parts.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

namespace dts::run {
namespace {

PartEnd ended(const std::string& name, Cause cause, Action action, std::string exclude = "") {
  PartEnd end{name, "role `" + name + "`", {}, {}, false, false};
  end.attempt = AttemptEnded{.cause = cause, .exit_code = 7, .detail = "rank 1 on n2 exited 7"};
  end.decided = Decided{.exit_code = action == Action::stop ? 7 : 0, .decision = action};
  end.decided->exclude = std::move(exclude);
  return end;
}

PartEnd told(PartEnd end) {
  end.end_requested = true;
  return end;
}

Action action_of(const std::vector<PartEnd>& ends) {
  return judge_parts(ends, true).decision.action;
}

}  // namespace

TEST_CASE("the run is done when every part is") {
  CHECK(action_of({}) == Action::done);
  CHECK(action_of({ended("a", Cause::completed, Action::done)}) == Action::done);
  CHECK(action_of({ended("a", Cause::completed, Action::done),
                   told(ended("server", Cause::stopped, Action::stop))}) == Action::done);
}

TEST_CASE("a part that stops ends the run with its cause, whatever the others were told") {
  const Verdict verdict = judge_parts({ended("train", Cause::user_exit, Action::stop),
                                       told(ended("server", Cause::stopped, Action::stop))},
                                      true);
  CHECK(verdict.decision.action == Action::stop);
  CHECK(verdict.decision.exit_code == 7);
  CHECK(verdict.outcome.cause == Cause::user_exit);
  CHECK(verdict.outcome.part == "train");
  CHECK(verdict.outcome.detail == "role `train`: rank 1 on n2 exited 7");
}

TEST_CASE("of several decisions the one that the whole job needs is taken") {
  const auto of = [](Action a, Action b) {
    return action_of({ended("a", Cause::preempted, a), ended("b", Cause::preempted, b)});
  };
  CHECK(of(Action::requeue, Action::stop) == Action::stop);
  CHECK(of(Action::requeue, Action::wait) == Action::wait);
  CHECK(of(Action::resubmit, Action::requeue) == Action::resubmit);
  CHECK(of(Action::restart, Action::requeue) == Action::requeue);
  CHECK(of(Action::done, Action::requeue) == Action::requeue);
  CHECK(of(Action::done, Action::restart) == Action::restart);
}

TEST_CASE("of equal decisions the first is told, and every node to avoid is avoided") {
  const Verdict verdict = judge_parts({ended("b", Cause::gpu_error, Action::requeue, "n1"),
                                       ended("a", Cause::preempted, Action::requeue, "n3")},
                                      true);
  CHECK(verdict.outcome.part == "b");
  CHECK(verdict.decision.exclude == "n1,n3");
}

TEST_CASE("a part that spares the others ends them only if the job has to do something for it") {
  PartEnd failed = ended("a", Cause::user_exit, Action::stop);
  failed.spares_others = true;
  CHECK(has_failed(failed));
  CHECK_FALSE(ends_others(failed));
  CHECK(action_of({failed, ended("b", Cause::preempted, Action::requeue)}) == Action::requeue);
  for (const auto& [cause, action] : {std::pair(Cause::gpu_error, Action::restart),
                                      std::pair(Cause::preempted, Action::requeue),
                                      std::pair(Cause::stopped, Action::stop)}) {
    PartEnd other = ended("a", cause, action);
    other.spares_others = true;
    CHECK_FALSE(has_failed(other));
    CHECK(ends_others(other));
  }
  for (const char* by : {k_asked_by_part, k_asked_by_user}) {
    PartEnd waiting = failed;
    waiting.decided->detail = std::string(by) + " before the next attempt";
    CHECK_FALSE(has_failed(waiting));
  }
  failed.out_of_time = true;
  CHECK(ends_others(failed));
  CHECK_FALSE(has_failed(told(ended("a", Cause::user_exit, Action::stop))));
}

TEST_CASE("a part whose agent vanished is started again, but not for ever") {
  const PartEnd gone{"a", "step `a`", {}, {}, false, false};
  CHECK(judge_parts({gone}, true).decision.action == Action::restart);
  const Verdict verdict = judge_parts({gone}, false);
  CHECK(verdict.decision.action == Action::stop);
  CHECK(verdict.outcome.cause == Cause::agent_lost);
}

TEST_CASE("a part that has used its own time ends the run") {
  PartEnd late = ended("a", Cause::time_limit, Action::requeue);
  late.out_of_time = true;
  CHECK(judge_parts({late}, true).decision.action == Action::stop);
  CHECK(judge_parts({late}, true).outcome.cause == Cause::time_limit);
  late.decided->decision = Action::done;
  CHECK(judge_parts({late}, true).decision.action == Action::done);
}

TEST_CASE("a decision to restart that was carried out is none any more") {
  PartEnd end{"a", "step `a`", {}, {}, false, false};
  read_end({{.what = AttemptEnded{.cause = Cause::rank_killed}},
            {.what = Decided{.decision = Action::restart}},
            {.what = AttemptStarted{}}},
           end);
  CHECK_FALSE(end.decided);
  read_end({{.what = AttemptEnded{.cause = Cause::completed}},
            {.what = Decided{.decision = Action::done}}},
           end);
  CHECK(is_done(end));
  CHECK_FALSE(ends_others(end));
}

TEST_CASE("parts are found in their order, and the run that they belong to") {
  const tests::TemporaryFolder folder;
  Files files{"{}", "{}", "", "{}", "", {}};
  Files whole = files;
  for (unsigned number = 1; number <= 10; ++number) {
    files.folder = part_folder(false, number, "s-" + std::to_string(number));
    whole.parts.push_back(files);
  }
  const RunDirectory run = create_run_directory(folder.path, "job", whole).value();
  const auto parts = parts_of(run);
  REQUIRE(parts.size() == 10);
  CHECK(parts[1].name == "s-2");
  CHECK(parts[9].run.path == run.path + "/steps/10-s-10");
  CHECK(exists(parts[9].run.checkpoints()));
  CHECK(part_named(run, "s-3")->run.path == parts[2].run.path);
  CHECK(part_named(run, "steps/3-s-3")->run.path == parts[2].run.path);
  CHECK_FALSE(part_named(run, "s"));
  CHECK(whole_of(parts[4].run).path == run.path);
  CHECK(whole_of(run).path == run.path);
  CHECK(full_name(parts[4].run) == "job-5-s-5");
  CHECK(full_name(run) == "job");
  CHECK(parts_of(parts[4].run).empty());
}

}  // namespace dts::run
