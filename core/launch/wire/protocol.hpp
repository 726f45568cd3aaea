// SPDX-License-Identifier: Apache-2.0
// The control channel's messages: one JSON object a line, between each `rank` and the `agent`.
// Pure.
//
//   rank  -> agent   hello, topology, measured, clock, listening, reached, bound, started,
//                    launched, signalled, progress, dumped, exited, failed; or refused, in place of
//                    hello, from one that cannot tell which rank it is
//   step  -> agent   notice, from a process that is no rank but hears the step's signals; attached,
//                    from one that has to end when the agent does
//   launcher -> agent  not_launched, from our own (`dtsubmit ssh`)
//   a person's command -> agent  verify
//   agent -> rank    ask_clock, listen, probe, go, advise, read_back, stacks, stop, kill, bye
//
// Everything from the other side is checked on arrival: an unknown type, a missing or mistyped
// field and text that is not JSON are Errc::invalid, never an exception.
#pragma once

#include "core/base/result.hpp"
#include "core/launch/wire/pace.hpp"
#include "core/launch/wire/planned_binding.hpp"
#include "core/plan/plan.hpp"

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
inline constexpr std::size_t k_most_addresses = 64;  // of a hello: so many fit

struct Hello {
  std::string token;
  plan::RankHello rank;
  std::string host;
  int pid = 0;
  std::vector<std::string> addresses;  // of this host's interfaces, loopback last
  bool topology = false;               // a Topology follows: from the first rank of each node
  unsigned worker_port = 0;            // held for the program's own server; 0: none was free
};

struct Topology {
  std::string text;  // topo::to_json()
};

struct Measured {
  std::string text;  // to_text() of NodeFacts: from the first rank of each node, where asked for
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
};  // before the program starts, when its threads have settled, and the answer to ReadBack

struct Started {
  int pid = 0;
};

// A process below a rank's program that is a rank of another launcher's.
struct LaunchedProcess {
  unsigned rank = 0;
  unsigned world_size = 0;
  std::string master;   // "127.0.0.1:29500", where its world meets; empty: not known
  std::string program;  // equal where the same was started in the same folder

  bool operator==(const LaunchedProcess&) const = default;
};

struct Launched {
  std::string launcher;  // "torchrun"; empty: not one that we know
  std::string command;   // its words, or those of whatever has started the processes
  std::string started;   // equal where the same was started in the same folder
  std::vector<LaunchedProcess> processes;  // by rank; empty: none yet, or no more

  bool operator==(const Launched&) const = default;
};  // the program has started a launcher, or processes with ranks of their own

struct Signalled {
  int signal = 0;
};  // the rank process got a signal from outside

struct Exited {
  int code = 0;                // exit code, or 128 + signal
  bool out_of_memory = false;  // the kernel killed for want of memory
  bool done = false;           // the program said that nothing is left to do
};

struct Progress {
  std::uint64_t step = 0;        // of the heartbeat; 0: none
  unsigned stalled_seconds = 0;  // no progress for so long, which is too long; 0: all is well
  std::string state;             // the program's, as proc(5) has it
  Pace pace{};
  unsigned quiet_seconds = 0;  // neither a beat nor output for so long
  unsigned idle_seconds = 0;   // no processor time, of the program and all it has started
  bool asleep = false;         // it waits for time to pass, not for another process
};  // every 30 s, when there is none, and when something is known for the first time

struct Dumped {};  // the stacks that were asked for are written

struct Failed {
  std::string message;
  int program = 0;  // 127 or 126 where the program is not there or not executable; else 0
};                  // could not bind or start the program

struct Refused {
  std::string token;
  std::string node;
  std::string message;
};  // what is wrong with the variables that it got from the launcher

struct Notice {
  std::string token;
  std::string node;
  int signal = 0;  // that its step got; 0: none, it listens from now on
};

struct Attached {
  std::string token;
};  // nothing follows: the end of the connection is what the other side waits for

struct NotLaunched {
  std::string token;
  std::string message;  // which node, and why its ranks are not there, or no longer
};

struct Verify {
  std::string token;
};  // the binding of all ranks is to be read anew

using FromRank = std::variant<Hello,
                              Topology,
                              Measured,
                              ClockReading,
                              Listening,
                              Reached,
                              Bound,
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

struct Go {
  PlannedBinding binding;
  bool strict_binding = false;  // do not start the program with another binding than planned
  std::vector<std::pair<std::string, std::string>> environment;  // on top of the inherited one
  std::string log;                                               // file for both streams
  int stop_signal = 15;         // if the agent vanishes, the rank itself asks its program to save
  bool log_timestamps = false;  // each line of the log begins with its time
  // Without progress for so many seconds the program hangs; 0: as ProgressWatch finds, -1: never.
  int hang_seconds = 0;
  std::uint64_t checkpoint_every = 0;  // milliseconds, as Advise has it; 0: not known yet
  // For --bind-threads auto the first PU of each core, in the cores' order; empty: not asked for.
  std::vector<unsigned> thread_cpus{};
  // What the scheduler signals a step with reaches programs by itself, too.
  bool signals_reach_programs = false;
};

struct Advise {
  std::uint64_t milliseconds = 0;  // between two checkpoints
};

struct ReadBack {};

struct Stacks {
  std::string file;
};  // write where the program stands

struct Stop {
  int signal = 15;
};

struct Kill {};

struct Bye {};

using ToRank = std::variant<AskClock, Listen, Probe, Go, Advise, ReadBack, Stacks, Stop, Kill, Bye>;

// Without the newline.
[[nodiscard]] std::string to_line(const FromRank& message);
[[nodiscard]] std::string to_line(const ToRank& message);
[[nodiscard]] Result<FromRank> parse_from_rank(std::string_view line);
[[nodiscard]] Result<ToRank> parse_to_rank(std::string_view line);

// attempt-<k>/channel.json, mode 0600: how ranks find the agent.
struct ChannelFile {
  std::string token;
  std::string node;                    // the agent's own, whose topology it knows itself
  std::vector<std::string> addresses;  // to try in order
  unsigned port = 0;
  bool preflight = false;   // the first rank of each node measures it
  bool check_gpus = false;  // with its GPUs
};

[[nodiscard]] std::string to_text(const ChannelFile& channel);
[[nodiscard]] Result<ChannelFile> parse_channel_file(std::string_view text);

}  // namespace dts::launch
