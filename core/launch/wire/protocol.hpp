// SPDX-License-Identifier: Apache-2.0
// The control channel's messages: one JSON object a line, between each `rank` and the `agent`.
// Pure.
//
//   rank  -> agent   hello, topology, measured, clock, listening, reached, set_up_ended, bound,
//   started,
//                    launched, signalled, progress, dumped, exited, failed; or refused, in place of
//                    hello, from one that cannot tell which rank it is
//   step  -> agent   notice, from a process that is no rank but hears the step's signals; attached,
//                    from one that has to end when the agent does
//   launcher -> agent  not_launched, from our own (`dtsubmit ssh`)
//   a person's command -> agent  verify
//   agent -> rank    ask_clock, listen, probe, set_up, go, advise, read_back, stacks, stop, kill,
//   bye
//
// Every message is validated on arrival: an unknown type, a missing or mistyped field and text that
// is not JSON are Errc::invalid, never an exception.
#pragma once

#include "core/base/result.hpp"
#include "core/launch/wire/pace.hpp"
#include "core/launch/wire/planned_binding.hpp"
#include "core/plan/plan.hpp"
#include "core/spec/container.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace dts::launch {

// A line longer than this ends the connection; the largest message is a topology.
inline constexpr std::size_t k_longest_line = std::size_t{4} << 20;
// Before the hello, which shows the token: anybody can connect.
inline constexpr std::size_t k_longest_first_line = std::size_t{16} << 10;
inline constexpr std::size_t k_most_addresses = 64;  // in one hello

// An interface of a host.
struct Link {
  std::string interface;
  unsigned mbps = 0;  // of its adapter; 0: not known, see link_speed()
};

struct Hello {
  std::string token;
  plan::RankHello rank;
  std::string host;
  int pid = 0;
  std::vector<std::string> addresses;  // of this host's interfaces, loopback last
  std::vector<Link> links;             // of these, in their order; empty: not known
  bool topology = false;               // a Topology follows: from the first rank of each node
  unsigned worker_port = 0;            // held for the program's own server; 0: none was free
};

struct Topology {
  std::string text;  // topo::to_json()
};

struct Measured {
  std::string text;  // to_text() of NodeFacts: from the first rank of each node, on request
};

struct ClockReading {
  std::int64_t milliseconds = 0;  // Unix time there
};                                // the answer to AskClock

struct Listening {
  unsigned port = 0;   // rank 0 holds it; 0: none was free
  std::string note{};  // why it is one of an unusual kind; mostly empty
};

// A connection to rank 0, as the prober saw it.
struct Route {
  std::string address;    // of the probe
  std::string from;       // the prober's own address on it
  std::string interface;  // at both ends; empty: the two names differ
};

struct Reached {
  std::vector<Route> routes;
};  // one for each address of the probe that led to rank 0

struct Bound {
  std::string text;  // to_text() of BoundState
};  // before the program starts, when its threads have settled, and in answer to ReadBack

// Of a process's environment: "NAME=value" entries, and names.
struct EnvironmentChanges {
  std::vector<std::string> set{};
  std::vector<std::string> unset{};

  bool operator==(const EnvironmentChanges&) const = default;
};

struct SetUpEnded {
  std::string failure{};         // empty: it is done
  EnvironmentChanges changes{};  // then
};

// Of a set-up that still runs: it is not stuck.
struct Staging {
  std::uint64_t done = 0;   // bytes
  std::uint64_t total = 0;  // bytes
};

struct Started {
  int pid = 0;
};

// A process below a rank's program that is a rank of another launcher.
struct LaunchedProcess {
  unsigned rank = 0;
  unsigned world_size = 0;
  std::string master;   // "127.0.0.1:29500", where its world meets; empty: not known
  std::string program;  // equal if the same program was started in the same folder

  bool operator==(const LaunchedProcess&) const = default;
};

struct Launched {
  std::string launcher;  // "torchrun"; empty: not a known launcher
  std::string command;   // the command line of the launcher, or of whatever started the processes
  std::string started;   // equal if the same command was started in the same folder
  std::vector<LaunchedProcess> processes;  // by rank; empty: none yet, or none any more

  bool operator==(const Launched&) const = default;
};  // the program has started a launcher, or processes with ranks of their own

struct Signalled {
  int signal = 0;
};  // the rank process received a signal from outside

struct Exited {
  int code = 0;                // exit code, or 128 + signal
  bool out_of_memory = false;  // the kernel killed it for lack of memory
  bool done = false;           // the program reported that nothing is left to do
};

struct Progress {
  std::uint64_t step = 0;        // of the heartbeat; 0: none
  unsigned stalled_seconds = 0;  // without progress for too long; 0: all is well
  std::string state;             // of the program, as in proc(5)
  Pace pace{};
  unsigned quiet_seconds = 0;  // neither a beat nor output for this long
  unsigned idle_seconds = 0;   // no processor time, for the program and its descendants
  bool asleep = false;         // it waits for time to pass, not for another process
};  // every 30 s, when progress stops, and when something is known for the first time

struct Dumped {};  // the requested stacks have been written

struct Failed {
  std::string message;
  int program = 0;  // 127 or 126 if the program is missing or not executable; otherwise 0
};                  // could not bind or start the program

struct Refused {
  std::string token;
  std::string node;
  std::string message;
  bool of_node = false;  // the node cannot run a rank
};                       // otherwise: what is wrong with the variables that the launcher set

struct Notice {
  std::string token;
  std::string node;
  int signal = 0;  // received by its step; 0: none, it listens from now on
};

struct Attached {
  std::string token;
};  // nothing follows: the other side waits for the connection to close

struct NotLaunched {
  std::string token;
  std::string message;  // which node, and why its ranks are missing or gone
};

struct Verify {
  std::string token;
};  // asks for the binding of all ranks to be read anew

using FromRank = std::variant<Hello,
                              Topology,
                              Measured,
                              ClockReading,
                              Listening,
                              Reached,
                              Bound,
                              SetUpEnded,
                              Staging,
                              Started,
                              Launched,
                              Signalled,
                              Exited,
                              Progress,
                              Dumped,
                              Failed,
                              Refused,
                              Notice,
                              Attached,
                              NotLaunched,
                              Verify>;

struct AskClock {};

struct Listen {
  std::vector<unsigned> ports;
  std::string nonce;
};

struct Probe {
  std::vector<std::string> addresses;
  unsigned port = 0;
  std::string nonce;
};

struct SetUp {
  std::string script;     // bash, see set_up_script(); empty: none
  std::string tear_down;  // bash, when the programs have ended; empty: none
  std::string log;
  std::vector<std::pair<std::string, std::string>> environment;  // on top of the inherited one
  bool stages = false;  // files are staged: the script does it, in a folder that the rank keeps
};                      // to the first rank of each node

// A node's tear-down is killed then.
inline constexpr std::chrono::seconds k_tear_down_limit{30};

struct Go {
  PlannedBinding binding;
  bool strict_binding = false;  // do not start the program with another binding than planned
  std::vector<std::pair<std::string, std::string>> environment;  // on top of the inherited one
  std::string log;                                               // file for both streams
  int stop_signal = 15;         // if the agent vanishes, the rank itself asks its program to save
  bool log_timestamps = false;  // each line of the log begins with the time
  // Seconds without progress after which the program hangs; 0: ProgressWatch decides, -1: never.
  int hang_seconds = 0;
  std::uint64_t checkpoint_every = 0;  // milliseconds, as Advise has it; 0: not known yet
  // For --bind-threads auto: the first PU of each core, in the cores' order; empty: not requested.
  std::vector<unsigned> thread_cpus{};
  // The scheduler's signals to a step reach programs directly, too.
  bool signals_reach_programs = false;
  // The program and its arguments where they differ from the job's: a launcher that is given its
  // node's place. Empty: the job's.
  std::vector<std::string> command{};
  spec::Container container{};        // that the program runs in; no image: none
  EnvironmentChanges set_up{};        // of the node, for the program
  std::vector<std::string> limits{};  // of the program, parse_resource_limit()
  std::string umask{};                // of the program, octal; empty: as it is
};

struct Advise {
  std::uint64_t milliseconds = 0;  // between two checkpoints
};

struct ReadBack {};

struct Stacks {
  std::string file;
};  // write the program's stacks

struct Stop {
  int signal = 15;
};

struct Kill {};

struct Bye {
  bool leaves_node = false;  // nothing follows in this job: what was staged is removed
};

using ToRank =
    std::variant<AskClock, Listen, Probe, SetUp, Go, Advise, ReadBack, Stacks, Stop, Kill, Bye>;

// Without the newline.
[[nodiscard]] std::string to_line(const FromRank& message);
[[nodiscard]] std::string to_line(const ToRank& message);
[[nodiscard]] Result<FromRank> parse_from_rank(std::string_view line);
[[nodiscard]] Result<ToRank> parse_to_rank(std::string_view line);

// attempt-<k>/channel.json, mode 0600: how ranks find the agent.
struct ChannelFile {
  std::string token;
  std::string node;                    // the agent's own, whose topology it already knows
  std::vector<std::string> addresses;  // tried in order
  unsigned port = 0;
  bool preflight = false;   // the first rank of each node measures the node
  bool check_gpus = false;  // including its GPUs
};

[[nodiscard]] std::string to_text(const ChannelFile& channel);
[[nodiscard]] Result<ChannelFile> parse_channel_file(std::string_view text);

}  // namespace dts::launch
