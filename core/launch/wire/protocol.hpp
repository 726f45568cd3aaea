// SPDX-License-Identifier: Apache-2.0
// The control channel between each `rank` and the `agent`: one JSON object per line. Pure.
//
//   rank  -> agent   hello, topology, measured, clock, listening, reached, set_up_ended, bound,
//                    started, launched, signalled, progress, dumped, exited, failed; or only
//                    refused, from a process that cannot determine its rank
//   step  -> agent   notice, from a process that is no rank but receives the step's signals;
//                    attached, from a process that has to end when the agent does
//   others -> agent  not_launched, from our own launcher (`dtsubmit ssh`); verify, from a command
//   agent -> rank    ask_clock, listen, probe, set_up, go, advise, read_back, stacks, stop, kill,
//                    bye
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

// A longer line ends the connection. The largest message is a topology.
inline constexpr std::size_t k_longest_line = std::size_t{4} << 20;
// The limit until hello has presented the token, since anybody can connect.
inline constexpr std::size_t k_longest_first_line = std::size_t{16} << 10;
inline constexpr std::size_t k_most_addresses = 64;  // in one hello

// An interface of a host.
struct Link {
  std::string interface;
  unsigned mbps = 0;  // speed of its adapter; 0: not known, see link_speed()
};

struct Hello {
  std::string token;
  plan::RankHello rank;
  std::string host;
  int pid = 0;
  std::vector<std::string> addresses;  // of this host's interfaces, loopback last
  std::vector<Link> links;             // of the same interfaces, in the same order; empty: unknown
  bool topology = false;               // the first rank of each node sends a Topology next
  unsigned worker_port = 0;            // reserved for the program's own server; 0: none was free
  std::string folder_trouble{};  // the agent's working folder is not that of this rank, and why
};

struct Topology {
  std::string text;  // topo::to_json()
};

struct Measured {
  std::string text;  // to_text() of NodeFacts: from the first rank of each node, on request
};

struct ClockReading {
  std::int64_t milliseconds = 0;  // Unix time on the rank's node
};                                // the answer to AskClock

struct Listening {
  unsigned port = 0;   // held open by rank 0; 0: none was free
  std::string note{};  // why the port is an unusual one; mostly empty
};

// A route to rank 0, as the probing rank saw it.
struct Route {
  std::string address;    // the probed address of rank 0
  std::string from;       // the local address of the connection
  std::string interface;  // its name on both nodes; empty: the names differ
};

struct Reached {
  std::vector<Route> routes;
};  // one for each probed address that led to rank 0

struct Bound {
  std::string text;  // to_text() of BoundState
};  // sent before the program starts, once its threads have settled, and in answer to ReadBack

// Changes to a process's environment: `set` has "NAME=value" entries, `unset` has names.
struct EnvironmentChanges {
  std::vector<std::string> set{};
  std::vector<std::string> unset{};

  bool operator==(const EnvironmentChanges&) const = default;
};

struct SetUpEnded {
  std::string failure{};         // empty: the set-up succeeded
  EnvironmentChanges changes{};  // valid if it succeeded
};

// Progress of a set-up that still runs, which shows that it is not stuck.
struct Staging {
  std::uint64_t done = 0;   // bytes
  std::uint64_t total = 0;  // bytes
};

struct Started {
  int pid = 0;
};

// A process below a rank's program that another launcher started as one of its ranks.
struct LaunchedProcess {
  unsigned rank = 0;
  unsigned world_size = 0;
  std::string master;   // where its ranks meet, "127.0.0.1:29500"; empty: not known
  std::string program;  // equal for processes of the same program, started in the same folder

  bool operator==(const LaunchedProcess&) const = default;
};

struct Launched {
  std::string launcher;  // "torchrun"; empty: not a known launcher
  std::string command;   // command line of the launcher, or of the process that started the others
  std::string started;   // equal for the same command, started in the same folder
  std::vector<LaunchedProcess> processes;  // sorted by rank; empty: none yet, or none any more

  bool operator==(const Launched&) const = default;
};  // the program has started a launcher, or processes with ranks of their own

struct Signalled {
  int signal = 0;
};  // the rank process received a signal from outside

struct Exited {
  int code = 0;                // exit code, or 128 + signal
  bool out_of_memory = false;  // the kernel killed it for lack of memory
  bool done = false;           // the program reported that no work is left
  std::string left_running{};  // a command that it left running at exit 0, and that was killed
};

struct Progress {
  std::uint64_t step = 0;        // from the heartbeat; 0: none
  unsigned stalled_seconds = 0;  // time without progress if that is too long; 0: all is well
  std::string state;             // state letter of the program, see proc(5)
  Pace pace{};
  unsigned quiet_seconds = 0;  // time with neither a heartbeat nor output
  unsigned idle_seconds = 0;   // time without processor use by the program or its descendants
  bool asleep = false;         // it sleeps, rather than waits for another process
};  // sent every 30 s, when progress stops, and when a value becomes known for the first time

struct Dumped {
  bool written = true;  // false: the requested stacks could not be written
};

struct Failed {
  std::string message;
  int program = 0;  // 127 or 126 if the program is missing or not executable; otherwise 0
};                  // sent if the rank could not bind or start the program

struct Refused {
  std::string token;
  std::string node;
  std::string message;
  bool of_node = false;  // true: the node cannot run a rank
};                       // otherwise: the message names the bad variables that the launcher set

struct Notice {
  std::string token;
  std::string node;
  int signal = 0;  // signal that the step received; 0: none yet, the sender is now listening
};

struct Attached {
  std::string token;
};  // the last message of its sender, which waits for the connection to close

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
  std::string tear_down;  // bash, run when the programs have ended; empty: none
  std::string log;
  std::vector<std::pair<std::string, std::string>> environment;  // on top of the inherited one
  bool stages = false;  // the script stages files, into a folder that the rank keeps
};                      // sent to the first rank of each node

// A node's tear-down script is killed after this time.
inline constexpr std::chrono::seconds k_tear_down_limit{30};

struct Go {
  PlannedBinding binding;
  bool strict_binding = false;  // do not start the program if its binding differs from the plan
  std::vector<std::pair<std::string, std::string>> environment;  // on top of the inherited one
  std::string log;                                               // file for both output streams
  int stop_signal = 15;         // if the agent vanishes, the rank itself asks its program to save
  bool log_timestamps = false;  // each line of the log begins with the time
  // Seconds without progress after which the program hangs; 0: ProgressWatch decides, -1: never.
  int hang_seconds = 0;
  std::uint64_t checkpoint_every = 0;  // milliseconds, see Advise; 0: not known yet
  // For --bind-threads auto: the first PU of each core, in the order of the cores; empty: not
  // requested.
  std::vector<unsigned> thread_cpus{};
  // Whether the scheduler's signals to a step also reach programs directly.
  bool signals_reach_programs = false;
  // The program with its arguments; empty: as on the rank's command line.
  std::vector<std::string> command{};
  spec::Container container{};        // to run the program in; no image: none
  EnvironmentChanges set_up{};        // what the node's set-up changed, applied to the program
  std::vector<std::string> limits{};  // resource limits of the program, see parse_resource_limit()
  std::string umask{};                // umask of the program, octal; empty: inherited
};

struct ReadBack {};

struct Advise {
  std::uint64_t milliseconds = 0;  // between two checkpoints
};

struct Stacks {
  std::string file;     // to write the program's stacks to
  bool saving = false;  // the program may be saving, and must not be paused
};

struct Stop {
  int signal = 15;
};

struct Kill {};

struct Bye {
  bool leaves_node = false;  // nothing else of this job will run on the node: remove staged files
};

using ToRank =
    std::variant<AskClock, Listen, Probe, SetUp, Go, Advise, ReadBack, Stacks, Stop, Kill, Bye>;

// One line without its newline.
[[nodiscard]] std::string to_line(const FromRank& message);
[[nodiscard]] std::string to_line(const ToRank& message);
[[nodiscard]] Result<FromRank> parse_from_rank(std::string_view line);
[[nodiscard]] Result<ToRank> parse_to_rank(std::string_view line);

// The content of attempt-<k>/channel.json (mode 0600), by which ranks find the agent.
struct ChannelFile {
  std::string token;
  std::string node;                    // the agent's own node, whose topology it already knows
  std::vector<std::string> addresses;  // tried in order
  unsigned port = 0;
  bool preflight = false;   // the first rank of each node measures the node
  bool check_gpus = false;  // including its GPUs
  std::string folder{};     // the agent's working folder, absolute; empty: no such folder
};

[[nodiscard]] std::string to_text(const ChannelFile& channel);
[[nodiscard]] Result<ChannelFile> parse_channel_file(std::string_view text);

}  // namespace dts::launch
