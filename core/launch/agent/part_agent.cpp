// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/part_agent.hpp"

#include "core/base/files/own_file.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/own_children.hpp"
#include "core/base/os/process.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/launch/agent/component.hpp"
#include "core/launch/job/stop_way.hpp"
#include "core/run/ledger/events.hpp"
#include "core/run/ledger/history.hpp"
#include "core/run/ledger/ledger.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <functional>

namespace dts::launch {
namespace {

using std::chrono::seconds;

constexpr std::size_t k_most_unwritten = std::size_t{16} << 20;  // bytes
constexpr seconds k_between_kills{2};  // a second interrupt during that time ends the wait

std::string shown_ranks(const run::RankSelection& shown) {
  return shown.all ? "all" : fmt::format("{}", fmt::join(shown.ranks, ","));
}

std::vector<std::string> agent_command(const AgentOptions& whole,
                                       const run::RunDirectory& run,
                                       bool begins_together,
                                       int unwritten_fd) {
  std::vector<std::string> words{whole.dtsubmit,
                                 "agent",
                                 "--run",
                                 run.path,
                                 "--part",
                                 whole.local ? "local" : "job",
                                 "--restart",
                                 begins_together ? "together" : "here",
                                 "--unwritten",
                                 std::to_string(unwritten_fd)};
  if (whole.local && (whole.shown.all || !whole.shown.ranks.empty()))
    words.insert(words.end(), {"--ranks", shown_ranks(whole.shown)});
  return words;
}

}  // namespace

Variables variables_of_share(const std::vector<std::string>& nodes,
                             const plan::Plan& plan,
                             const std::string& gpu_type) {
  const std::string count = std::to_string(nodes.size());
  const std::string tasks = std::to_string(plan.ntasks_per_node);
  const std::string all = std::to_string(nodes.size() * plan.ntasks_per_node);
  const std::string folded = fold_hostlist(nodes);
  const std::string type = gpu_type.empty() ? "" : gpu_type + ":";
  // An empty value has the same effect as a job that requested no GPUs. Roles on the same nodes get
  // all of theirs: Slurm would give each the first ones.
  const std::string gpus =
      plan.gpus_per_node > 0 ? fmt::format("{}{}", type, plan::gpus_of_node(plan)) : "";
  const std::string times = nodes.size() > 1 ? fmt::format("{}(x{})", tasks, count) : tasks;
  return {{"SLURM_JOB_NODELIST", folded},
          {"SLURM_NODELIST", folded},
          {"SLURM_JOB_NUM_NODES", count},
          {"SLURM_NNODES", count},
          {"SLURM_TASKS_PER_NODE", times},
          {"SLURM_NTASKS_PER_NODE", tasks},
          {"SLURM_NTASKS", all},
          {"SLURM_NPROCS", all},
          {"SLURM_CPUS_PER_TASK", std::to_string(plan.cpus_per_task)},
          {"SLURM_GPUS_PER_NODE", gpus}};
}

bool PartAgent::may_start(const std::vector<PartAgent*>& parts) {
  if (!awaited_) return false;
  const auto other = std::find_if(parts.begin(), parts.end(), [&](const PartAgent* part) {
    return part->part().name == part_.waits_for;
  });
  if (other == parts.end()) return true;
  return (*other)->runs() ? awaited_->is_open() : !(*other)->waits();
}

Result<void> PartAgent::start(const AgentOptions& whole, const Variables& variables) {
  awaited_.reset();
  DTS_ASSIGN(const auto before, run::read_ledger(run_.ledger()));
  events_before_ = before.size();
  end_requested_ = out_of_time_ = false;
  kill_at_ = Clock::time_point::max();
  pauses_ = {};
  set_time_limit(before);
  Variables all = variables;
  if (!whole.local)
    for (auto& variable : variables_of_share(nodes_, plan_, part_.job.gpu_type))
      all.push_back(std::move(variable));
  Command command;
  unwritten_.reset(::memfd_create("dtsubmit-events", MFD_CLOEXEC));
  if (!unwritten_.valid()) return fail_errno("cannot make a file in memory");
  command.in_child = [fd = unwritten_.get()] { return ::fcntl(fd, F_SETFD, 0); };
  command.argv = agent_command(whole, run_, starts_together_, unwritten_.get());
  command.env = environment_with(all);
  if (!whole.local && plan_.component)
    command.env = environment_of_component(*command.env, *plan_.component);
  // We forward a Ctrl-C exactly once. Signals stay blocked until the agent handles them.
  command.own_group = true;
  command.blocked_signals = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};
  command.parent_death_signal = SIGTERM;
  DTS_ASSIGN(pid_, start_process(command));
  log("{} begins on {}", words_, fmt::join(nodes_, ","));
  return {};
}

void PartAgent::set_time_limit(const std::vector<run::Event>& before) {
  warn_at_ = Clock::time_point::max();
  if (part_.time.count() == 0) return;
  const seconds left = part_.time - run::count_failures(before).elapsed;
  const seconds margin = std::min(part_.job.signal_margin, part_.time / 4);
  warn_at_ = Clock::now() + std::max(seconds(0), left - margin);
}

bool PartAgent::is_done() const {
  if (is_done_) return true;
  const auto events = run::read_ledger(run_.ledger());
  return events && run::is_done(*events);
}

std::optional<run::PartEnd> PartAgent::failure() const {
  if (part_.on_failure != spec::OnFailure::none || is_done()) return std::nullopt;
  run::PartEnd end;
  end.name = part_.name;
  end.words = words_;
  const auto events = run::read_ledger(run_.ledger());
  if (events && run::final_decision(*events) != nullptr) run::read_end(*events, end);
  return run::has_failed(end) ? std::optional(std::move(end)) : std::nullopt;
}

void PartAgent::note_done(const sched::JobId& job, const char* why) const {
  run::Event event{.attempt = run::latest_attempt(run_), .job = job};
  event.what = run::decided_event({run::Action::done, 0, why});
  if (const auto noted = run::append_event(run_.ledger(), std::move(event)); !noted)
    log("{}", noted.error().message);
}

void PartAgent::signal(int number) const {
  if (runs()) ::sigqueue(pid_, number, {.sival_int = k_passed_on});
}

void PartAgent::request_end(seconds patience) {
  stop_waiting();
  if (!runs() || end_requested_) return;
  end_requested_ = true;
  ::sigqueue(pid_, k_stop_request, {.sival_int = k_of_another_part});
  kill_at_ = std::min(kill_at_, Clock::now() + patience);
}

void PartAgent::tick() {
  const auto now = Clock::now();
  const auto paused = pauses_.look(now);
  for (Clock::time_point* due : {&warn_at_, &kill_at_})
    if (*due != Clock::time_point::max()) *due += paused;
  if (runs() && now >= warn_at_) {
    log("{}: its own time is nearly used up: asking it to save", words_);
    out_of_time_ = true;
    signal(SIGUSR1);
    kill_at_ = std::min(kill_at_, now + std::min(part_.job.signal_margin, part_.time / 4));
    warn_at_ = Clock::time_point::max();
  }
  if (!runs() || now < kill_at_) return;
  log("{}: it has not ended in time: killing it", words_);
  signal(SIGINT);
  kill_at_ = now + k_between_kills;
}

// What its agent has recorded, followed by what it could not record.
std::vector<run::Event> PartAgent::new_events() const {
  auto events = run::read_ledger(run_.ledger()).value_or(std::vector<run::Event>());
  const bool was_done = run::is_done(events);
  events.erase(events.begin(),
               events.begin() + static_cast<std::ptrdiff_t>(
                                    was_done ? 0 : std::min(events_before_, events.size())));
  ::lseek(unwritten_.get(), 0, SEEK_SET);
  const auto lines = read_open_file(unwritten_.get(), "a file in memory", k_most_unwritten);
  for (run::Event& event : run::parse_ledger(lines.value_or("")).events)
    events.push_back(std::move(event));
  return events;
}

std::optional<run::PartEnd> PartAgent::reap() {
  int status = 0;
  if (!runs() || ::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = 0;
  run::PartEnd end;
  end.name = part_.name;
  end.words = words_;
  end.end_requested = end_requested_;
  end.out_of_time = out_of_time_;
  end.spares_others = part_.on_failure == spec::OnFailure::none;
  read_end(new_events(), end);
  is_done_ = run::is_done(end);
  log("{} has ended: {}",
      words_,
      end.decided ? end.decided->decision.name() + ": " + end.decided->detail
                  : fmt::format("no decision, exit code {}", exit_code_of_wait_status(status)));
  return end;
}

Result<void> PartAgent::resume_after(const std::vector<run::Event>& of_whole, bool is_local) const {
  if (is_local && failure()) return run::append_event(run_.ledger(), {.what = run::Resumed{}});
  const auto resumed = std::find_if(of_whole.rbegin(), of_whole.rend(), [](const auto& event) {
    return event.template is<run::Resumed>();
  });
  if (resumed == of_whole.rend()) return {};
  DTS_ASSIGN(const auto own, run::read_ledger(run_.ledger()));
  if (run::is_done(own)) return {};
  const bool has_run = std::any_of(own.begin(), own.end(), [](const run::Event& event) {
    return event.is<run::AttemptStarted>();
  });
  if (!has_run || own.back().time >= resumed->time) return {};
  return run::append_event(run_.ledger(),
                           {.job = resumed->job, .what = *resumed->as<run::Resumed>()});
}

std::vector<PartAgent*> unfinished(const std::vector<PartAgent*>& parts) {
  std::vector<PartAgent*> left;
  for (PartAgent* part : parts)
    if (!part->is_done() && !part->failure()) left.push_back(part);
  if (std::none_of(left.begin(), left.end(), std::mem_fn(&PartAgent::ends_by_itself))) left.clear();
  return left;
}

run::Verdict verdict_on_all(const std::vector<PartAgent*>& parts, const sched::JobId& job) {
  std::vector<run::PartEnd> failures;
  for (const PartAgent* part : parts) {
    if (auto failure = part->failure())
      failures.push_back(*std::move(failure));
    else if (!part->is_done())
      part->note_done(job, "the other roles are done");
  }
  return run::judge_parts(failures, false);
}

void kill_orphans_of_agents(const std::vector<PartAgent*>& parts) {
  std::vector<pid_t> spared;
  for (const PartAgent* part : parts)
    if (part->runs()) spared.push_back(part->pid());
  kill_children(spared);
}

}  // namespace dts::launch
