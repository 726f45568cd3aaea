// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/job_options.hpp"

#include "core/base/files.hpp"
#include "core/base/text.hpp"
#include "core/base/units.hpp"
#include "core/run/policy.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <limits>
#include <optional>

namespace dts::cli {
namespace {

constexpr std::uint64_t k_longest_length = 1'000'000'000;  // 31 years of seconds

// Parses what was typed for one option, if anything, and keeps the problem if there is one.
class Reader {
 public:
  template <class Parse, class Value>
  void read(const char* option, const std::string& text, Parse parse, Value& value) {
    if (text.empty()) return;
    auto parsed = parse(text);
    if (parsed)
      value = *parsed;
    else
      problems.push_back({option, parsed.error().message, parsed.error().hint, "", 0});
  }

  Diagnostics problems;
};

Result<unsigned> parse_count(const std::string& text) {
  const auto number = parse_number(text);
  if (!number || *number > std::numeric_limits<unsigned>::max())
    return fail(Errc::invalid, fmt::format("`{}` is not a number", text));
  return static_cast<unsigned>(*number);
}

// A length of time that is no limit of a job: a plain number is seconds. Otherwise as
// parse_time_limit() has it.
Result<std::chrono::seconds> parse_length(const std::string& text) {
  const auto number = parse_number(text);
  if (number && *number <= k_longest_length) return std::chrono::seconds(*number);
  auto length = parse_time_limit(text);
  if (!length)
    length.error().hint = "write seconds, M:S, H:M:S, or a number with s, m, h or d, e.g. 20 or 5m";
  return length;
}

// The same of what Slurm and our files hold in 16 bits.
Result<std::chrono::seconds> parse_seconds(const std::string& text) {
  DTS_ASSIGN(const std::chrono::seconds length, parse_length(text));
  if (length.count() > 65535)
    return fail(Errc::invalid, fmt::format("`{}` is too long", text), "0 to 65535 seconds");
  return length;
}

// on, off or how long it may take.
Result<std::chrono::seconds> parse_preflight(const std::string& text) {
  if (text == "on") return spec::JobSpec{}.preflight;
  if (text == "off") return std::chrono::seconds(0);
  auto limit = parse_seconds(text);
  if (!limit) limit.error().hint = "on, off, or how long: 20 (seconds), 20s, 1m";
  return limit;
}

// Zero would be a hang at once.
Result<std::chrono::seconds> parse_hang(const std::string& text) {
  auto length = parse_length(text);
  if (length && length->count() == 0)
    return fail(Errc::invalid, "no time at all", "UNLIMITED: nothing is taken for a hang");
  return length;
}

Result<int> parse_signal(const std::string& text) {
  const std::string name = text.rfind("SIG", 0) == 0 ? text.substr(3) : text;
  for (const int signal : {SIGTERM, SIGUSR1, SIGUSR2})
    if (name == ::sigabbrev_np(signal)) return signal;
  return fail(
      Errc::invalid, fmt::format("`{}` is not a stop signal", text), "one of TERM, USR1, USR2");
}

// Each once, in the order in which they are written; names that are not known are left for
// validate().
Result<std::vector<std::string>> parse_frameworks(const std::string& text) {
  if (text == "all") return spec::all_frameworks();
  std::vector<std::string> asked;
  if (text == "none") return asked;
  for (const std::string& name : split(text, ','))
    if (std::find(asked.begin(), asked.end(), name) == asked.end()) asked.push_back(name);
  const std::vector<std::string> order = spec::all_frameworks();
  std::stable_sort(asked.begin(), asked.end(), [&](const auto& a, const auto& b) {
    return std::find(order.begin(), order.end(), a) < std::find(order.begin(), order.end(), b);
  });
  return asked;
}

}  // namespace

void add_job_options(CLI::App& verb, JobOptions& o) {
  const char* group = "Job";
  verb.add_option("-N,--nodes", o.nodes, "nodes [1]")->group(group)->type_name("N");
  verb.add_option("--gpus-per-node", o.gpus_per_node, "GPUs on each node; one rank for each")
      ->group(group)
      ->type_name("N");
  verb.add_option(
          "--ntasks-per-node", o.ntasks_per_node, "ranks on each node [one per GPU, else 1]")
      ->group(group)
      ->type_name("N");
  verb.add_option("-c,--cpus-per-task", o.cpus_per_task, "cores for each rank [the node's share]")
      ->group(group)
      ->type_name("N");
  verb.add_option("-J,--job-name", o.spec.job_name, "name of the job and its run [the program's]")
      ->group(group)
      ->type_name("NAME");
  verb.add_option(
          "--launcher",
          o.spec.launcher,
          "what starts the ranks: auto, mpirun, srun, ssh [auto: mpirun if there, else srun]")
      ->group(group)
      ->type_name("NAME");
  verb.add_flag("--log-timestamps",
                o.spec.log_timestamps,
                "begin each line of a rank's log with the time, UTC")
      ->group(group);
  verb.add_option("--start-timeout",
                  o.start_timeout,
                  "end the attempt if a rank has not come after this long [120s]")
      ->group(group)
      ->type_name("LENGTH");
  verb.add_option("--preflight",
                  o.preflight,
                  "check each node before programs start: on, off, or how long it may take [10s]")
      ->group(group)
      ->type_name("WHEN");
  verb.add_option(
          "--on",
          o.spec.on,
          "what to do about a cause, e.g. crash=restart:5,timeout=resubmit [dtsubmit-run(5)]")
      ->group(group)
      ->type_name("CAUSE=ACTION[:N],...");
  verb.add_option("--hang-timeout",
                  o.hang_timeout,
                  "no progress for so long is a hang; UNLIMITED: never [learnt from DTSUBMIT_BEAT]")
      ->group(group)
      ->type_name("LENGTH");
  verb.add_option("--time-total", o.time_total, "stop once all attempts together took so long")
      ->group(group)
      ->type_name("TIME");
  verb.add_option(
          "--stop-signal", o.stop_signal, "sent to each program to make it save and exit 85 [TERM]")
      ->group(group)
      ->type_name("SIG");
  verb.add_option("--framework",
                  o.frameworks,
                  "whose variables each rank gets: none, torch,tensorflow,... [all]")
      ->group(group)
      ->type_name("LIST");
  verb.add_option("--bind",
                  o.spec.bind,
                  "which cores ranks get: auto, compact, spread, none, map:LIST;LIST... [auto]")
      ->group(group)
      ->type_name("POLICY");
  verb.add_option("--smt", o.smt, "hardware threads of each core that ranks get [all]")
      ->group(group)
      ->type_name("N");
  verb.add_option("--cores-per-rank", o.cores_per_rank, "at most [as many as there are]")
      ->group(group)
      ->type_name("N");
  verb.add_option("--bind-threads",
                  o.spec.bind_threads,
                  "a core for each OpenMP thread of a runtime: none, auto, gnu, intel [none]")
      ->group(group)
      ->type_name("NAME");
  verb.add_flag("--strict-binding",
                o.spec.strict_binding,
                "end if a rank or its threads are not bound as planned [warn]")
      ->group(group);
  verb.add_option("--runs", o.runs, "folder of run directories [runs]")
      ->group(group)
      ->type_name("DIR")
      ->envname("DTSUBMIT_RUNS");
}

void add_host_options(CLI::App& verb, JobOptions& o) {
  const char* group = "Hosts";
  verb.add_option(
          "--hosts", o.spec.hosts, "machines to run on, through ssh: n[1-4], n1:2,n2:4 [this one]")
      ->group(group)
      ->type_name("LIST");
  verb.add_option("--ssh-command", o.spec.ssh_command, "words that reach a host [ssh]")
      ->group(group)
      ->type_name("WORDS")
      ->envname("DTSUBMIT_SSH");
}

void add_scheduler_options(CLI::App& verb, JobOptions& o) {
  const char* group = "Slurm";
  verb.add_option("-p,--partition", o.spec.partition, "partition [the site's default]")
      ->group(group)
      ->type_name("NAME");
  verb.add_option("-x,--exclude", o.spec.exclude, "nodes not to run on, e.g. n3 or n[1-2]")
      ->group(group)
      ->type_name("LIST");
  verb.add_option("--spares", o.spares, "nodes more, kept to replace those that fail [0]")
      ->group(group)
      ->type_name("N");
  verb.add_option("-t,--time", o.time, "time limit, e.g. 90 (minutes), 1:30:00, 2-12, 1.5h")
      ->group(group)
      ->type_name("TIME");
  verb.add_option("--mem", o.memory, "memory on each node, e.g. 16G; 0 is all")
      ->group(group)
      ->type_name("SIZE");
  verb.add_option("-A,--account", o.spec.account, "account to charge")
      ->group(group)
      ->type_name("NAME");
  verb.add_option("-q,--qos", o.spec.qos, "quality of service")->group(group)->type_name("NAME");
  verb.add_flag("--requeue", o.spec.requeue, "come back after a preemption or time limit [yes]")
      ->group(group);
  verb.add_flag("--no-requeue", o.no_requeue, "do not; wins over --requeue")->group(group);
  verb.add_option("--signal-margin",
                  o.signal_margin,
                  "stop and save this long before the time limit [120s]")
      ->group(group)
      ->type_name("LENGTH");
}

Asked make_spec(const JobOptions& options, const std::vector<std::string>& command) {
  spec::JobSpec spec = options.spec;
  spec.command = command;
  spec.requeue = !options.no_requeue;
  Reader reader;
  reader.read("--nodes", options.nodes, parse_count, spec.nodes);
  reader.read("--spares", options.spares, parse_count, spec.spares);
  reader.read("--smt", options.smt, parse_count, spec.smt);
  reader.read("--cores-per-rank", options.cores_per_rank, parse_count, spec.cores_per_rank);
  reader.read("--gpus-per-node", options.gpus_per_node, parse_count, spec.gpus_per_node);
  reader.read("--ntasks-per-node", options.ntasks_per_node, parse_count, spec.ntasks_per_node);
  reader.read("--cpus-per-task", options.cpus_per_task, parse_count, spec.cpus_per_task);
  reader.read("--time", options.time, parse_time_limit, spec.time);
  reader.read("--hang-timeout", options.hang_timeout, parse_hang, spec.hang_timeout);
  reader.read("--time-total", options.time_total, parse_time_limit, spec.time_total);
  reader.read("--mem", options.memory, parse_memory_mib, spec.memory_mib);
  reader.read("--signal-margin", options.signal_margin, parse_seconds, spec.signal_margin);
  reader.read("--start-timeout", options.start_timeout, parse_seconds, spec.start_timeout);
  reader.read("--preflight", options.preflight, parse_preflight, spec.preflight);
  reader.read("--stop-signal", options.stop_signal, parse_signal, spec.stop_signal);
  reader.read("--framework", options.frameworks, parse_frameworks, spec.frameworks);
  if (const auto policy = run::parse_policy(spec.on); !policy)
    reader.problems.insert(reader.problems.end(), policy.error().begin(), policy.error().end());
  return {std::move(spec), std::move(reader.problems)};
}

std::string trainer_path() {
  const std::string self = program_path();
  return self.substr(0, self.rfind('/')) + "/dttrain";
}

}  // namespace dts::cli
