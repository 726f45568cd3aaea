// SPDX-License-Identifier: Apache-2.0
#include "core/launch/rank/rank_process.hpp"

#include "core/base/exit_codes.hpp"
#include "core/base/files/files.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/program_file.hpp"
#include "core/base/os/signals.hpp"
#include "core/base/os/wait.hpp"
#include "core/launch/rank/launcher_ranks.hpp"
#include "core/launch/rank/one_machine.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace dts::launch {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::chrono::seconds k_orphan_save_limit{20};  // to save after the agent is gone
constexpr std::chrono::seconds k_bye_limit{30};
// The longest time between the scheduler's signals to the first and the last process of a job.
constexpr milliseconds k_signal_spread{500};

Failed unstartable(const Error& why) {
  const std::string hint = why.hint.empty() ? "" : fmt::format(" ({})", why.hint);
  return {why.message + hint, exit_code_of_start(why).value_or(0)};
}

}  // namespace

void RankProcess::handle(const AskClock&) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  say(ClockReading{std::chrono::duration_cast<milliseconds>(now).count()});
}

void RankProcess::handle(const Listen& message) {
  nonce_ = message.nonce;
  Listening listening;
  rendezvous_ = hold_master_port(message.ports, listening.note);
  listening.port = rendezvous_.port;
  say(listening);
}

void RankProcess::handle(const Probe& message) {
  say(follow(message));
}

void RankProcess::handle(const SetUp& message) {
  if (const auto begun = set_up_.start(message); !begun)
    return say(SetUpEnded{begun.error().message, {}});
  if (!set_up_.running()) say(SetUpEnded{});
}

void RankProcess::handle(const Go& message) {
  apply(message.set_up);
  worker_.socket.reset();
  rendezvous_.socket.reset();
  stop_signal_ = message.stop_signal;
  signals_reach_program_ = message.signals_reach_programs;
  if (const auto bound = binding_.apply(message); !bound) return say(Failed{bound.error().message});
  const plan::Environment own = own_variables(message.container);
  const auto is_set = [&own](const std::string& name) {
    return getenv_lookup(name.c_str()).has_value() || has_variable(own, name);
  };
  const std::vector<std::string>& command = message.command.empty() ? command_ : message.command;
  plan::Environment environment = binding_.place_threads(message, command, is_set);
  say(binding_.bound());
  if (!binding_.may_start()) return;  // the agent will end the attempt
  environment.insert(environment.end(), message.environment.begin(), message.environment.end());
  std::erase_if(environment,
                [&](const auto& variable) { return plan::is_overridden(variable.first, is_set); });
  segments_.prepare(environment, is_set);
  join_one_machine(environment, getenv_lookup("OMPI_VERSION").value_or(""), is_set);
  contained_ = !message.container.image.empty();
  const std::string page = contained_ ? container_.page_file(segments_.path()) : "";
  if (const auto ready = progress_.prepare(message.checkpoint_every, page, environment); !ready)
    return say(Failed{ready.error().message});
  environment.push_back(plan::advice_of_rank(environment));
  for (const auto& variable : own)
    if (!has_variable(environment, variable.first)) environment.push_back(variable);
  for (const char* name : ranks_to_forget(environment)) ::unsetenv(name);
  const auto started = start_program(message, command, environment);
  if (!started) return say(unstartable(started.error()));
  // proctrack/linuxproc signals children before their parents: a shell may die before the signal
  // reaches us.
  if (signals_reach_program_) program_.expect_stop(SIGTERM);
  progress_.begin(message, Clock::now());
  binding_.begin(Clock::now());
  launched_.begin(environment, Clock::now());
  say(Started{program_.pid()});
}

Result<void> RankProcess::start_program(const Go& order,
                                        const std::vector<std::string>& command,
                                        const plan::Environment& environment) {
  const Program::Log log{order.log, order.log_timestamps};
  DTS_ASSIGN(const Program::Limits limits, program_limits(order.limits, order.umask));
  if (order.container.image.empty()) return program_.start(command, environment, log, limits);
  DTS_ASSIGN(const ContainerCommand inside,
             container_.enclose(order.container,
                                {command, limits},
                                environment,
                                order.binding.gpus_per_node,
                                segments_.path()));
  return program_.start(
      inside.argv, inside.environment, log, inside.sets_limits ? Program::Limits() : limits);
}

void RankProcess::handle(const Stacks& message) {
  if (!program_.running()) return say(Dumped{false});
  say(progress_.report(program_.pid(), Clock::now()));
  // In a process of its own: gdb is slow, and we must notice meanwhile if the program ends.
  Command command;
  command.argv = {
      program_path(), "stacks", "--pid", std::to_string(program_.pid()), "--file", message.file};
  if (message.saving) command.argv.insert(command.argv.end(), {"--saving", "yes"});
  command.own_group = true;
  command.parent_death_signal = SIGKILL;
  const auto started = start_process(command);
  if (!started) return say(Dumped{false});
  stacks_ = *started;
}

void RankProcess::handle(const Advise& message) {
  progress_.advise(message.milliseconds);
}

// Reports what the program wrote into its page since the last look, and where its threads run now.
void RankProcess::look_at_program() {
  const auto now = Clock::now();
  if (now >= stop_at_) stop_program();
  if (now >= progress_.next_poll()) program_.poll();
  if (now >= progress_.next_poll())
    if (const auto news = progress_.poll(program_.pid(), now)) say(*news);
  if (now >= binding_.next_poll()) handle(ReadBack{});
  if (now >= set_up_.next_poll())
    if (const auto staging = set_up_.poll(now)) say(*staging);
  if (now >= launched_.next_poll())
    if (const auto launched = launched_.poll(program_.pid(), now)) say(*launched);
}

void RankProcess::handle(const ReadBack&) {
  if (!program_.running()) return;
  binding_.read_threads(Clock::now());
  say(binding_.bound());
}

void RankProcess::handle(const Stop& message) {
  progress_.expect_end();
  program_.expect_stop(message.signal);
  stop_due_ = message.signal;
  stop_at_ = Clock::now() + (signals_reach_program_ ? k_signal_spread : milliseconds(0));
}

// Signals the program only once: a second signal may kill a program that is already exiting, and
// then what it saved would not count.
void RankProcess::stop_program() {
  stop_at_ = Time::max();
  if (!stop_due_ || reached_by_ == stop_due_) return;
  program_.signal(*stop_due_);
}

void RankProcess::handle(const Kill&) {
  set_up_.kill();
  program_.kill();
  if (!program_.running()) report_exit(128 + SIGKILL);
}

void RankProcess::report_exit(int code) {
  if (reported_) return;
  reported_ = true;
  if (code == 128 + SIGKILL) container_.remove();
  binding_.end();
  if (const auto last = progress_.last_news(Clock::now())) say(*last);
  const bool out_of_memory = oom_.explains(code);
  if (progress_.asks_again() && code != k_no_restart && !out_of_memory) code = k_checkpointed;
  // A runtime's own helpers may outlive the container's client by a moment.
  const std::string left = contained_ ? "" : program_.left_running();
  say(Exited{code, out_of_memory, progress_.says_done(), left});
  deadline_ = Clock::now() + k_bye_limit;
  if (!agent_alive_) over_ = true;
}

void RankProcess::on_agent_lost() {
  agent_alive_ = false;
  revival_.begin(place_.run_directory, std::to_string(place_.attempt));
  if (!program_.running()) {
    over_ = true;
    return;
  }
  log("the agent is gone: asking the program to save, {} s at most", k_orphan_save_limit.count());
  if (!stop_due_) handle(Stop{stop_signal_});  // not a second time
  deadline_ = Clock::now() + k_orphan_save_limit;
}

void RankProcess::on_signals() {
  while (const auto sent = read_sent_signal(signals_.get())) {
    const int* signal = &sent->number;
    if (*signal == SIGCHLD) {
      int ended_as = 0;
      if (stacks_ > 0 && ::waitpid(stacks_, &ended_as, WNOHANG) == stacks_) {
        stacks_ = 0;
        say(Dumped{ended_as == 0});
      }
      if (const auto ended = set_up_.reap()) say(*ended);
      if (const auto code = program_.reap({stacks_, set_up_.pid(), revival_.pid()}))
        report_exit(*code);
    } else if (*signal != SIGCONT) {
      if (signals_reach_program_ && is_of_slurm(sent->sender)) {
        reached_by_ = *signal;
        program_.expect_stop(*signal);
      }
      say(Signalled{*signal});
    }
  }
}

void RankProcess::read_agent() {
  const bool alive = agent_.receive();
  while (const auto line = agent_.next_line()) {
    const auto message = parse_to_rank(*line);
    if (message)
      std::visit([this](const auto& m) { handle(m); }, *message);
    else
      log("{}", message.error().message);
  }
  if (!alive && !over_) on_agent_lost();  // after Bye, that is the end of the attempt
}

RankProcess::Time RankProcess::next_event() const {
  return std::min({progress_.next_poll(),
                   binding_.next_poll(),
                   launched_.next_poll(),
                   set_up_.next_poll(),
                   stop_at_,
                   deadline_});
}

// False if we have to give up. A program that still runs at the deadline is killed, and gets the
// same time again to end.
bool RankProcess::outlives_deadline() {
  if (Clock::now() < deadline_) return true;
  if (!program_.running()) return false;
  program_.kill();
  deadline_ = Clock::now() + k_bye_limit;
  return true;
}

// Waits for whatever comes first and handles it.
bool RankProcess::serve() {
  std::array<pollfd, 4> fds{
      {{signals_.get(), POLLIN, 0},
       {agent_alive_ ? agent_.fd() : -1,
        static_cast<short>(agent_.wants_to_write() ? POLLIN | POLLOUT : POLLIN),
        0},
       {rendezvous_.socket.get(), POLLIN, 0},
       {measurement_.event_fd(), POLLIN, 0}}};
  if (!wait_for_any(fds, next_event())) return false;
  if ((fds[1].revents & POLLOUT) != 0 && !agent_.flush()) on_agent_lost();
  if ((fds[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && agent_alive_) read_agent();
  if (fds[2].revents != 0 && rendezvous_.socket.valid()) answer_probe(rendezvous_, nonce_);
  if (fds[3].revents != 0)
    if (const auto facts = measurement_.take()) say(Measured{to_text(*facts)});
  if (fds[0].revents != 0) on_signals();
  return true;
}

int RankProcess::run() {
  while (!over_) {
    look_at_program();
    if (!outlives_deadline() || !serve()) break;
  }
  set_up_.kill();
  set_up_.tear_down(k_tear_down_limit);
  if (leaves_node_) set_up_.remove_staged();
  // Any other exit code would make mpirun and srun end the other ranks, which may still be saving.
  return 0;
}

}  // namespace dts::launch
