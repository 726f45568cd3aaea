// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/check_job.hpp"

#include "cli/commands/check_follow.hpp"
#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/files/temporary_folder.hpp"
#include "core/base/os/interruption.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/process.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"
#include "core/check/facts.hpp"
#include "core/launch/job/successor.hpp"
#include "core/spec/job_spec.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace dts::cli {
namespace {

constexpr std::chrono::seconds k_quick_limit{60};
constexpr std::chrono::minutes k_limit{30};
constexpr const char* k_gpus = "--gpus-per-node";

bool is_typed(const JobOptions& options, const std::string& name) {
  const auto typed = options.typed.find(name);
  return typed != options.typed.end() && typed->second;
}

// Passes on the requested number of GPUs, which the measurement has to find. For a submitted job,
// configuration files may request it, too.
Result<void> expect_gpus(const JobOptions& options, Measuring& measuring) {
  if (measuring.place != Place::submitted && !is_typed(options, k_gpus)) return {};
  DTS_ASSIGN(const Asked asked, make_spec(options, {}));
  if (!asked.problems.empty()) return tl::unexpected<Error>(to_error(asked.problems));
  const unsigned gpus = asked.spec.gpus_per_node.value_or(0);
  if (gpus > 0) measuring.bench.insert(measuring.bench.begin(), fmt::format("--gpus={}", gpus));
  return {};
}

// Refuses the options that only concern the submission of a job.
Result<void> refuse_other_options(const JobOptions& options, bool names_hosts) {
  for (const spec::Option& row : spec::options()) {
    const std::string name = row.long_name();
    const bool counts = row.group == spec::Group::check || row.group == spec::Group::hosts ||
                        name == "--runs" || name == "--nodes" || name == k_gpus;
    if (counts || !is_typed(options, name)) continue;
    return fail(Errc::usage,
                fmt::format("{} is for a check that is submitted, and this one runs {}",
                            name,
                            names_hosts ? "on --hosts" : "in the allocation that this shell is in"),
                names_hosts ? "omit it" : "omit it, or leave the allocation");
  }
  return {};
}

Result<MeasuredNodes> hosts_of(const spec::JobSpec& spec) {
  MeasuredNodes nodes;
  DTS_ASSIGN(const std::vector<HostSlots> hosts, expand_host_slots(spec.hosts));
  for (const HostSlots& host : hosts) nodes.names.push_back(host.host);
  nodes.ssh = spec::ssh_words(spec.ssh_command);
  return nodes;
}

Result<MeasuredNodes> nodes_of_allocation(const JobOptions& options,
                                          const spec::JobSpec& spec,
                                          const std::string& list) {
  MeasuredNodes nodes;
  DTS_ASSIGN(nodes.names, expand_hostlist(list));
  if (!is_typed(options, "--nodes")) return nodes;
  if (spec.nodes > nodes.names.size())
    return fail(
        Errc::usage,
        fmt::format("--nodes {}, but this allocation has {}", spec.nodes, nodes.names.size()),
        "omit it, or run the check outside of the allocation");
  nodes.names.resize(spec.nodes);
  return nodes;
}

std::vector<std::string> bench_words(const Measuring& measuring) {
  std::vector<std::string> words{trainer_path(), "bench"};
  if (measuring.quick) words.emplace_back("--quick");
  words.insert(words.end(), measuring.bench.begin(), measuring.bench.end());
  return words;
}

Result<MeasuredJob> take_facts(const std::string& path, const Ended& ended) {
  auto text = read_own_file(path, check::k_largest_facts, Others::may_write);
  // If a rank did not answer, check.json has the measurements of the others.
  if (!text && ended.exit_code != 0) return MeasuredJob{std::nullopt, ended.run, ended.exit_code};
  if (!text)
    return fail(Errc::io,
                "the measurements left no result: " + text.error().message,
                ended.run.empty() ? "" : "dtsubmit logs " + shell_quote(ended.run));
  return MeasuredJob{*std::move(text), ended.run, ended.exit_code};
}

Result<MeasuredJob> measure_rank(const Measuring& measuring) {
  DTS_ASSIGN(const std::string folder, make_temporary_folder("dts-check"));
  Command command;
  command.argv = bench_words(measuring);
  command.argv.insert(command.argv.end(), {"--output", folder + "/check.json"});
  auto measured = [&]() -> Result<MeasuredJob> {
    if (measuring.quick) {  // prints one line, with the result
      command.env = launch::scrubbed_environment();
      DTS_ASSIGN(const Output output, run_process(std::move(command), k_quick_limit));
      if (output.exit_code != 0) tell("{}{}", output.out, output.err);
      return take_facts(folder + "/check.json", {output.exit_code, ""});
    }
    remember_signals();
    command.env = launch::scrubbed_environment();
    DTS_ASSIGN(const Ended ended, run_followed(std::move(command), false, k_limit));
    return take_facts(folder + "/check.json", {ended.exit_code, ""});
  }();
  if (const auto removed = remove_all(folder); !removed) tell("{}\n", removed.error().message);
  return measured;
}

// mpirun passes the facts to our standard output, so no folder has to be shared.
Result<MeasuredJob> measure_on_nodes(const Measuring& measuring) {
  std::vector<std::string> words = bench_words(measuring);
  words.insert(words.end(), {"--output", "-", "--run-dir", measuring.runs});
  DTS_ASSIGN(Command command,
             mpirun_on(measuring.nodes, words, launch::scrubbed_environment(), getenv_lookup));
  DTS_ASSIGN(const std::string folder, make_temporary_folder("dts-check"));
  const std::string path = folder + "/check.json";
  auto measured = [&]() -> Result<MeasuredJob> {
    const UniqueFd out(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!out.valid()) return fail_errno("cannot create " + path);
    command.stdout_fd = out.get();
    remember_signals();
    DTS_ASSIGN(const Ended ended, run_followed(std::move(command), false, k_limit));
    DTS_ASSIGN(MeasuredJob job, take_facts(path, ended));
    if (!job.facts || !job.facts->empty()) return job;
    return fail(Errc::io,
                fmt::format("no measurements from {}: mpirun ended with {}",
                            fold_hostlist(measuring.nodes.names),
                            ended.exit_code),
                measuring.nodes.ssh.empty()
                    ? "its message is above"
                    : fmt::format("its message is above; `{} {} true` has to work without a "
                                  "prompt",
                                  join(measuring.nodes.ssh, " "),
                                  measuring.nodes.names.front()));
  }();
  if (const auto removed = remove_all(folder); !removed) tell("{}\n", removed.error().message);
  return measured;
}

Result<Measuring> measuring_of(const JobOptions& options,
                               bool here,
                               bool quick,
                               const std::vector<std::string>& bench,
                               const Lookup& lookup) {
  Measuring measuring{Place::here, typed_words(options), bench, quick, {}, ""};
  const auto list = lookup("SLURM_JOB_NODELIST");
  const bool is_allocated = list && !list->empty();
  const bool names_hosts = is_typed(options, "--hosts");
  if (here || (!names_hosts && !is_allocated && measuring.words.empty())) return measuring;
  if (names_hosts || is_allocated) {
    DTS_TRY(refuse_other_options(options, names_hosts));
    DTS_ASSIGN(const Asked asked, make_spec(options, {}));
    if (!asked.problems.empty()) return tl::unexpected<Error>(to_error(asked.problems));
    measuring.place = Place::nodes;
    measuring.runs = absolute_path(asked.spec.runs.empty() ? "." : asked.spec.runs);
    DTS_ASSIGN(
        measuring.nodes,
        names_hosts ? hosts_of(asked.spec) : nodes_of_allocation(options, asked.spec, *list));
    return measuring;
  }
  measuring.place = Place::submitted;
  const auto add = [&](const char* name, const char* value) {
    if (!is_typed(options, name)) measuring.words.push_back(fmt::format("{}={}", name, value));
  };
  add("--job-name", "check");
  add("--ntasks-per-node", "1");
  add("--time", "30");
  return measuring;
}

}  // namespace

Result<Measuring> plan_measuring(const JobOptions& options,
                                 bool here,
                                 bool quick,
                                 const std::vector<std::string>& bench,
                                 const Lookup& lookup) {
  DTS_ASSIGN(Measuring measuring, measuring_of(options, here, quick, bench, lookup));
  DTS_TRY(expect_gpus(options, measuring));
  return measuring;
}

Result<MeasuredJob> measure(const Measuring& measuring) {
  if (!exists(trainer_path()))
    return fail(Errc::not_found,
                "the bundled trainer, which measures, is not at " + trainer_path(),
                "build it, or judge earlier measurements with --from FILE");
  if (measuring.place == Place::here) return measure_rank(measuring);
  if (measuring.place == Place::nodes) return measure_on_nodes(measuring);
  Command command;
  command.argv = {program_path(), "submit", "--wait"};
  command.argv.insert(command.argv.end(), measuring.words.begin(), measuring.words.end());
  command.argv.emplace_back("--");
  for (std::string& word : bench_words(measuring)) command.argv.push_back(std::move(word));
  remember_signals();
  // No time limit: a job may wait in the queue for as long as it takes.
  command.env = launch::scrubbed_environment();
  DTS_ASSIGN(const Ended ended,
             run_followed(std::move(command), true, std::chrono::hours(24 * 365)));
  return take_facts(ended.run + "/check.json", ended);
}

}  // namespace dts::cli
