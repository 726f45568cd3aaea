// SPDX-License-Identifier: Apache-2.0
#include "core/launch/rank/rank.hpp"

#include "core/base/files/files.hpp"
#include "core/base/net/line_connection.hpp"
#include "core/base/net/net.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/process_table.hpp"
#include "core/base/os/signals.hpp"
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/health/measure_node.hpp"
#include "core/launch/job/allocation.hpp"
#include "core/launch/launcher/identity.hpp"
#include "core/launch/launcher/launcher.hpp"
#include "core/launch/program/find_launched.hpp"
#include "core/launch/program/oom.hpp"
#include "core/launch/program/program.hpp"
#include "core/launch/rank/rank_binding.hpp"
#include "core/launch/rank/rank_meeting.hpp"
#include "core/launch/rank/rank_progress.hpp"
#include "core/launch/rank/rank_segments.hpp"
#include "core/launch/wire/channel.hpp"
#include "core/launch/wire/node_name.hpp"
#include "core/launch/wire/protocol.hpp"
#include "core/run/directory/run_directory.hpp"
#include "core/topo/discover.hpp"
#include "core/topo/json.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>

namespace dts::launch {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::chrono::seconds k_orphan_save_limit{20};  // to save after the agent is gone
constexpr std::chrono::seconds k_bye_limit{30};
constexpr milliseconds k_connect_limit{2000};
// From the first process of a job that the scheduler signals to the last.
constexpr milliseconds k_signal_spread{500};

constexpr unsigned k_most_gpus = 1023;  // the largest number of one

using Numbers = std::vector<unsigned>;

Hello make_hello(const ChannelFile& channel, const Identity& identity, const std::string& node) {
  Hello hello;
  hello.token = channel.token;
  hello.host = host_name();
  hello.rank = {identity.rank,
                identity.world_size,
                identity.local_rank,
                node.empty() ? node_name(getenv_lookup, hello.host) : node,
                {},
                {}};
  if (const auto gpus = getenv_lookup("CUDA_VISIBLE_DEVICES"); gpus && !gpus->empty())
    hello.rank.gpu_ids = split(*gpus, ',');
  for (const char* name : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"})
    if (hello.rank.gpu_numbers.empty())
      hello.rank.gpu_numbers =
          parse_number_list(getenv_lookup(name).value_or(""), k_most_gpus).value_or(Numbers());
  hello.pid = ::getpid();
  hello.addresses = interface_addresses();
  if (hello.addresses.size() > k_most_addresses) hello.addresses.resize(k_most_addresses);
  // The agent knows its own node.
  hello.topology = identity.local_rank == 0 && hello.rank.node != channel.node;
  return hello;
}

bool is_of_slurm(pid_t sender) {
  if (sender == 0) return true;  // nobody that we can see
  const auto process = process_info(sender);
  return !process || process->name.rfind("slurm", 0) == 0;
}

Failed unstartable(const Error& why) {
  const std::string hint = why.hint.empty() ? "" : fmt::format(" ({})", why.hint);
  return {why.message + hint, exit_code_of_start(why).value_or(0)};
}

class RankProcess {
 public:
  RankProcess(const RankOptions& options,
              UniqueFd socket,
              UniqueFd signals,
              HeldPort worker,
              RankSegments segments,
              std::optional<NodeMeasurement> measurement)
      : options_(options),
        agent_(std::move(socket), k_longest_line),
        signals_(std::move(signals)),
        worker_(std::move(worker)),
        segments_(std::move(segments)),
        measurement_(std::move(measurement)) {}

  void say(const FromRank& message) { agent_.send(to_line(message)); }

  int run();

 private:
  void handle(const AskClock&);
  void handle(const Listen& message);
  void handle(const Probe& message);
  void handle(const Go& message);
  void handle(const Stacks& message);
  void handle(const ReadBack&);
  void handle(const Stop& message);
  void handle(const Kill&);

  void handle(const Bye&) { over_ = true; }

  void on_agent_lost();
  void on_signals();
  void report_exit(int code);
  void look_at_program();
  void handle(const Advise& message);
  void read_agent();
  void stop_program();

  const RankOptions& options_;
  LineConnection agent_;
  UniqueFd signals_;
  HeldPort worker_;  // the sockets of both until the program starts, the claims as long as we live
  HeldPort rendezvous_;
  RankSegments segments_;                       // of the program, so it goes after it
  std::optional<NodeMeasurement> measurement_;  // of the first rank of a node
  std::string nonce_;
  Program program_;
  OomCounter oom_;
  RankProgress progress_;
  RankBinding binding_;
  LaunchedWatch launched_;
  pid_t stacks_ = 0;  // the process that writes them
  int stop_signal_ = SIGTERM;
  bool signals_reach_program_ = false;  // those of the scheduler, without us
  std::optional<int> reached_by_;       // such a signal
  std::optional<int> stop_due_;         // the agent's, if the scheduler's does not come
  Clock::time_point stop_at_ = Clock::time_point::max();
  bool agent_alive_ = true;
  bool reported_ = false;
  bool over_ = false;
  Clock::time_point deadline_ =
      Clock::time_point::max();  // then the program is killed, or we leave
};

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

void RankProcess::handle(const Go& message) {
  worker_.socket.reset();
  rendezvous_.socket.reset();
  stop_signal_ = message.stop_signal;
  signals_reach_program_ = message.signals_reach_programs;
  if (const auto bound = binding_.apply(message); !bound) return say(Failed{bound.error().message});
  const auto is_set = [](const std::string& name) {
    return getenv_lookup(name.c_str()).has_value();
  };
  plan::Environment environment = binding_.place_threads(message, options_.command, is_set);
  say(binding_.bound());
  if (!binding_.may_start()) return;  // the agent ends the attempt
  environment.insert(environment.end(), message.environment.begin(), message.environment.end());
  std::erase_if(environment,
                [&](const auto& variable) { return plan::is_overruled(variable.first, is_set); });
  if (const auto ready = progress_.prepare(message.checkpoint_every, environment); !ready)
    return say(Failed{ready.error().message});
  segments_.prepare(environment, is_set);
  const auto started =
      program_.start(options_.command, environment, {message.log, message.log_timestamps});
  if (!started) return say(unstartable(started.error()));
  // proctrack/linuxproc signals children before their parents: a shell may die before we hear of
  // it.
  if (signals_reach_program_) program_.expect_stop(SIGTERM);
  progress_.begin(message, Clock::now());
  binding_.begin(Clock::now());
  launched_.begin(environment, Clock::now());
  say(Started{program_.pid()});
}

void RankProcess::handle(const Stacks& message) {
  if (program_.running()) say(progress_.report(program_.pid(), Clock::now()));
  // In a process of its own: gdb takes its time, and we must hear of the end meanwhile.
  Command command;
  command.argv = {
      program_path(), "stacks", "--pid", std::to_string(program_.pid()), "--file", message.file};
  command.own_group = true;
  command.parent_death_signal = SIGKILL;
  const auto started = start_process(command);
  if (!started) return say(Dumped{});
  stacks_ = *started;
}

void RankProcess::handle(const Advise& message) {
  progress_.advise(message.milliseconds);
}

// What the program wrote into its page since the last look, and where its threads are by now.
void RankProcess::look_at_program() {
  const auto now = Clock::now();
  if (now >= stop_at_) stop_program();
  if (now >= progress_.next_look()) program_.look();
  if (now >= progress_.next_look())
    if (const auto news = progress_.look(program_.pid(), now)) say(*news);
  if (now >= binding_.next_look()) handle(ReadBack{});
  if (now >= launched_.next_look())
    if (const auto launched = launched_.look(program_.pid(), now)) say(*launched);
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

// Once: a program that exits already may die of a second signal, and what it saved would not count.
void RankProcess::stop_program() {
  stop_at_ = Clock::time_point::max();
  if (!stop_due_ || reached_by_ == stop_due_) return;
  program_.signal(*stop_due_);
}

void RankProcess::handle(const Kill&) {
  program_.kill();
  if (!program_.running()) report_exit(128 + SIGKILL);
}

void RankProcess::report_exit(int code) {
  if (reported_) return;
  reported_ = true;
  binding_.end();
  if (const auto last = progress_.last_news(Clock::now())) say(*last);
  say(Exited{code, oom_.explains(code), progress_.says_done()});
  deadline_ = Clock::now() + k_bye_limit;
  if (!agent_alive_) over_ = true;
}

void RankProcess::on_agent_lost() {
  agent_alive_ = false;
  if (!program_.running()) {
    over_ = true;
    return;
  }
  log("the agent is gone: asking the program to save, {} s at most", k_orphan_save_limit.count());
  if (!stop_due_) handle(Stop{stop_signal_});  // once, as ever
  deadline_ = Clock::now() + k_orphan_save_limit;
}

void RankProcess::on_signals() {
  while (const auto sent = read_sent_signal(signals_.get())) {
    const int* signal = &sent->number;
    if (*signal == SIGCHLD) {
      if (stacks_ > 0 && ::waitpid(stacks_, nullptr, WNOHANG) == stacks_) {
        stacks_ = 0;
        say(Dumped{});
      }
      if (const auto code = program_.reap()) report_exit(*code);
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
  if (!alive) on_agent_lost();
}

int RankProcess::run() {
  while (!over_) {
    std::array<pollfd, 4> fds{
        {{signals_.get(), POLLIN, 0},
         {agent_alive_ ? agent_.fd() : -1,
          static_cast<short>(agent_.wants_to_write() ? POLLIN | POLLOUT : POLLIN),
          0},
         {rendezvous_.socket.get(), POLLIN, 0},
         {measurement_ ? measurement_->event_fd() : -1, POLLIN, 0}}};
    int wait = -1;
    look_at_program();
    if (const auto next = std::min(
            {progress_.next_look(), binding_.next_look(), launched_.next_look(), stop_at_});
        next != Clock::time_point::max())
      wait = static_cast<int>(
          std::max<long>(0, std::chrono::ceil<milliseconds>(next - Clock::now()).count()));
    if (deadline_ != Clock::time_point::max()) {
      const auto left = std::chrono::ceil<milliseconds>(deadline_ - Clock::now()).count();
      if (left <= 0) {
        if (!program_.running()) break;
        program_.kill();
        deadline_ = Clock::now() + k_bye_limit;
        continue;
      }
      wait = static_cast<int>(wait < 0 ? left : std::min<long>(wait, left));
    }
    if (::poll(fds.data(), fds.size(), wait) < 0 && errno != EINTR) break;
    if ((fds[1].revents & POLLOUT) != 0 && !agent_.flush()) on_agent_lost();
    if ((fds[1].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && agent_alive_) read_agent();
    if (fds[2].revents != 0 && rendezvous_.socket.valid()) answer_probe(rendezvous_, nonce_);
    if (fds[3].revents != 0)
      if (const auto facts = measurement_->take()) say(Measured{to_text(*facts)});
    if (fds[0].revents != 0) on_signals();
  }
  return agent_alive_ ? 0 : 1;
}

// The launcher ends the other ranks when this one fails: the agent must have heard why before.
tl::unexpected<Error> refuse(const ChannelFile& channel, const Error& why) {
  if (const auto told = tell_agent(
          channel, Refused{channel.token, node_name(getenv_lookup, host_name()), why.message});
      !told)
    log("{}", told.error().message);
  return tl::unexpected<Error>(why);
}

}  // namespace

Result<int> run_rank(const RankOptions& options) {
  // What was set for the launcher is not for the program.
  if (getenv_lookup(k_launcher_hwloc.first) == k_launcher_hwloc.second)
    ::unsetenv(k_launcher_hwloc.first);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  DTS_ASSIGN(UniqueFd signals,
             take_signals({SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGCHLD}));
  DTS_ASSIGN(const ChannelFile channel, read_channel(options.run_directory, options.attempt));
  const auto identity =
      options.identity ? Result<Identity>(*options.identity) : identify(getenv_lookup);
  if (!identity) return refuse(channel, identity.error());
  std::optional<NodeMeasurement> measurement;  // begins first: it has all the time until the start
  if (channel.preflight && identity->local_rank == 0)
    measurement.emplace(run::RunDirectory{options.run_directory}.attempt(options.attempt),
                        channel.check_gpus);
  Hello hello = make_hello(channel, *identity, options.node);
  std::optional<Topology> topology;
  if (hello.topology) {
    DTS_ASSIGN(const topo::NodeTopology found, topo::discover());
    topology = Topology{topo::to_json(found)};
  }
  HeldPort worker = hold_worker_port(options.run_directory, options.attempt, hello.rank.rank);
  hello.worker_port = worker.port;
  // Last, so that no connection is silent for long: the agent drops strangers when too many call.
  DTS_ASSIGN(UniqueFd socket, connect_to_any(channel.addresses, channel.port, k_connect_limit));
  RankSegments segments(fmt::format(
      "{} {} {} {}", options.run_directory, options.attempt, hello.rank.node, channel.token));
  RankProcess process(options,
                      std::move(socket),
                      std::move(signals),
                      std::move(worker),
                      std::move(segments),
                      std::move(measurement));
  process.say(hello);
  if (topology) process.say(*topology);
  return process.run();
}

}  // namespace dts::launch
