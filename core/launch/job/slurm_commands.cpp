// SPDX-License-Identifier: Apache-2.0
#include "core/launch/job/slurm_commands.hpp"

#include "core/base/os/process.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <ctime>
#include <map>
#include <utility>

namespace dts::launch {
namespace {

using sched::JobState;

constexpr std::chrono::seconds k_limit{15};  // if the controller is unreachable, scontrol takes 9 s

using Fields = std::map<std::string, std::string>;

// "A=1 B=two words C=3": a value ends where the next word containing `=` begins. The first value of
// a name counts: later ones may be part of a user's text.
Fields fields_of(const std::string& line) {
  Fields fields;
  std::string name;
  for (const std::string& word : split(line, ' ')) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos && equals > 0) {
      name = word.substr(0, equals);
      if (!fields.emplace(name, word.substr(equals + 1)).second) name.clear();
    } else if (!name.empty()) {
      fields[name] += " " + word;
    }
  }
  return fields;
}

std::string text_of(const Fields& fields, const char* name) {
  const auto found = fields.find(name);
  if (found == fields.end() || found->second == "(null)") return {};
  return std::string(trim(found->second));
}

std::int64_t number_of(const Fields& fields, const char* name) {
  return static_cast<std::int64_t>(parse_number(text_of(fields, name)).value_or(0));
}

// "2026-11-22T10:00:00", local time; 0 for None, Unknown and the like.
std::int64_t time_of(const std::string& text) {
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr || *end != '\0') return 0;
  parts.tm_isdst = -1;
  return ::mktime(&parts);
}

// Converts the words that squeue(1) lists under JOB STATE CODES.
JobState state_of(const std::string& word) {
  static const std::map<std::string, JobState> k_states{
      {"PENDING", JobState::pending},       {"REQUEUED", JobState::pending},
      {"REQUEUE_HOLD", JobState::pending},  {"REQUEUE_FED", JobState::pending},
      {"SPECIAL_EXIT", JobState::pending},  {"RUNNING", JobState::running},
      {"CONFIGURING", JobState::running},   {"SIGNALING", JobState::running},
      {"RESIZING", JobState::running},      {"SUSPENDED", JobState::suspended},
      {"STOPPED", JobState::suspended},     {"COMPLETED", JobState::completed},
      {"CANCELLED", JobState::cancelled},   {"FAILED", JobState::failed},
      {"TIMEOUT", JobState::timed_out},     {"DEADLINE", JobState::timed_out},
      {"NODE_FAIL", JobState::node_failed}, {"BOOT_FAIL", JobState::node_failed},
      {"PREEMPTED", JobState::preempted},   {"OUT_OF_MEMORY", JobState::out_of_memory}};
  const auto found = k_states.find(word);
  return found == k_states.end() ? JobState::unknown : found->second;
}

// The state of a job before it began to end, which scontrol hides behind COMPLETING.
JobState state_before_completing(const sched::JobInfo& job, std::uint32_t our_restarts) {
  if (job.restart_count > our_restarts) return JobState::pending;  // requeued
  if (job.reason == "TimeLimit") return JobState::timed_out;
  if (job.preempt_time != 0) return JobState::preempted;
  return JobState::cancelled;
}

bool is_unusable(std::string_view state) {
  return std::ranges::any_of(std::array{"drain", "fail", "error", "inval"},
                             [&](const char* word) { return state.starts_with(word); });
}

class SlurmCommands final : public sched::Scheduler {
 public:
  explicit SlurmCommands(std::uint32_t our_restarts) : our_restarts_(our_restarts) {}

  Result<sched::JobInfo> job(sched::JobId id) override {
    DTS_ASSIGN(const std::string line, told({"scontrol", "--oneliner", "show", "job", id.text()}));
    return parse_job_line(line, our_restarts_);
  }

  Result<sched::ConfigInfo> config() override {
    DTS_ASSIGN(const std::string text, told({"scontrol", "show", "config"}));
    return parse_config_lines(text);
  }

  Result<std::vector<sched::NodeInfo>> nodes() override {
    DTS_ASSIGN(const std::string text, told({"scontrol", "--oneliner", "show", "node"}));
    std::vector<sched::NodeInfo> nodes;
    for (const std::string& line : split(text, '\n')) {
      const Fields fields = fields_of(line);
      sched::NodeInfo node;
      node.name = text_of(fields, "NodeName");
      node.address = text_of(fields, "NodeAddr");
      node.port = static_cast<std::uint32_t>(number_of(fields, "Port"));
      node.cpus = static_cast<std::uint32_t>(number_of(fields, "CPUTot"));
      for (const char letter : text_of(fields, "State"))
        node.state += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
      node.lost = node.state.starts_with("down") || node.state.find('*') != std::string::npos;
      node.away = node.lost || is_unusable(node.state);
      if (!node.name.empty()) nodes.push_back(std::move(node));
    }
    return nodes;
  }

  Result<void> cancel(sched::JobId id) override {
    return told({"scancel", id.text()}).map([](const std::string&) {});
  }

  Result<void> requeue(sched::JobId id) override {
    return told({"scontrol", "requeue", id.text()}).map([](const std::string&) {});
  }

  Result<void> exclude(sched::JobId id, const std::string& nodes) override {
    return told({"scontrol", "update", fmt::format("JobId={}", id), "ExcNodeList=" + nodes})
        .map([](const std::string&) {});
  }

  Result<sched::JobId> submit(const sched::Submission&) override { return unable("submit"); }

  Result<std::vector<sched::PartitionInfo>> partitions() override { return unable("partitions"); }

  Result<void> signal_batch(sched::JobId, int) override { return unable("signal"); }

 private:
  static tl::unexpected<Error> unable(const char* what) {
    return fail(
        Errc::unreachable,
        fmt::format(
            "the scheduler's plug-in is not loaded, and {} is not possible with Slurm's commands",
            what));
  }

  // Standard output of one of Slurm's commands, or its error message if it fails.
  [[nodiscard]] static Result<std::string> told(std::vector<std::string> words) {
    Command command;
    command.argv = std::move(words);
    const std::string name = join(command.argv, " ");
    DTS_ASSIGN(Output output, run_process(std::move(command), k_limit));
    if (output.exit_code == 0) return std::move(output.out);
    const std::string said(trim(output.err.empty() ? output.out : output.err));
    const bool away = said.find("Unable to contact") != std::string::npos ||
                      said.find("timed out") != std::string::npos ||
                      said.find("Connection refused") != std::string::npos;
    const bool unknown = said.find("Invalid job id") != std::string::npos;
    return fail(away      ? Errc::unreachable
                : unknown ? Errc::not_found
                          : Errc::rejected,
                fmt::format("`{}`: {}", name, said));
  }

  std::uint32_t our_restarts_;
};

}  // namespace

Result<sched::JobInfo> parse_job_line(const std::string& line, std::uint32_t our_restarts) {
  const Fields fields = fields_of(line.substr(0, line.find('\n')));
  sched::JobInfo job;
  job.id = sched::JobId::parse(text_of(fields, "JobId")).value_or(sched::JobId());
  const std::string state = text_of(fields, "JobState");
  if (job.id.empty() || state.empty())
    return fail(Errc::invalid, "scontrol's answer describes no job: " + line.substr(0, 80));
  job.reason = text_of(fields, "Reason");
  job.partition = text_of(fields, "Partition");
  job.nodes = text_of(fields, "NodeList");
  job.exclude_nodes = text_of(fields, "ExcNodeList");
  job.restart_count = static_cast<std::uint32_t>(number_of(fields, "Restarts"));
  job.requeue = text_of(fields, "Requeue") == "1";
  job.start_time = time_of(text_of(fields, "StartTime"));
  job.end_time = time_of(text_of(fields, "EndTime"));
  job.eligible_time = time_of(text_of(fields, "EligibleTime"));
  job.preempt_time = time_of(text_of(fields, "PreemptTime"));
  const std::string exit = text_of(fields, "ExitCode");
  job.exit_code = static_cast<int>(parse_number(exit.substr(0, exit.find(':'))).value_or(0));
  job.completing = state == "COMPLETING";
  job.state = job.completing ? state_before_completing(job, our_restarts) : state_of(state);
  return job;
}

sched::ConfigInfo parse_config_lines(const std::string& text) {
  sched::ConfigInfo config;
  for (const std::string& line : split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string_view name = trim(std::string_view(line).substr(0, equals));
    const std::string value(trim(std::string_view(line).substr(equals + 1)));
    if (name == "KillWait")
      config.kill_wait_seconds =
          static_cast<std::uint32_t>(parse_number(value.substr(0, value.find(' '))).value_or(0));
    if (name == "BOOT_TIME") config.boot_time = time_of(value);
    if (name == "ProctrackType") config.signals_reach_programs = value != "proctrack/cgroup";
    if (name == "ClusterName") config.cluster_name = value;
  }
  return config;
}

Result<std::unique_ptr<sched::Scheduler>> slurm_by_commands(sched::JobId id,
                                                            std::uint32_t our_restarts) {
  if (!find_program("scontrol")) return fail(Errc::unreachable, "no scontrol in PATH either");
  auto commands = std::make_unique<SlurmCommands>(our_restarts);
  if (auto known = commands->job(id); !known && known.error().code != Errc::unreachable)
    return tl::unexpected<Error>(std::move(known).error());
  return commands;
}

}  // namespace dts::launch
