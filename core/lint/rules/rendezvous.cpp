// SPDX-License-Identifier: Apache-2.0
// How ranks find each other: the address and port of the first rank.
#include "core/base/text/text.hpp"
#include "core/lint/rules/facts.hpp"
#include "core/lint/rules/torchrun.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace dts::lint {
namespace {

// True for a name of the rendezvous port; services have ports, too.
bool names_port(const std::string& name) {
  const std::string lower = in_lower_case(name);
  if (lower == "port") return true;
  if (lower.find("port") == std::string::npos) return false;
  for (const char* word :
       {"master", "rdzv", "rendezvous", "main_process", "head", "dist", "torch", "nccl", "init"})
    if (lower.find(word) != std::string::npos) return true;
  return false;
}

bool is_port(const std::optional<std::uint64_t>& number) {
  return number && *number >= 1024 && *number < 65536;
}

// host:29500
std::optional<std::uint64_t> port_of(const Value& endpoint) {
  const std::size_t colon = endpoint.text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  return parse_number(endpoint.text.substr(colon + 1));
}

class PortReport {
 public:
  PortReport(const Subject& subject, Report& report) : subject_(subject), report_(report) {}

  void add(std::uint64_t port, Span span, std::vector<Edit> edits) {
    if (!seen_.insert(port).second) return;
    report_.add(span,
                fmt::format("port {} is the same for every job: two on one node collide, and a job "
                            "that comes back may find it taken",
                            port),
                "",
                std::move(edits));
  }

  // True if no other place in the script would have to be changed as well.
  [[nodiscard]] bool is_alone(std::uint64_t port) const {
    const std::string text = std::to_string(port);
    const std::size_t first = subject_.plain.find(text);
    return first != std::string::npos && subject_.plain.find(text, first + 1) == std::string::npos;
  }

 private:
  const Subject& subject_;
  Report& report_;
  std::set<std::uint64_t> seen_;
};

void check_fixed_port(const Subject& subject, Report& report) {
  // An exclusive job shares its nodes with no other job.
  if (subject.job.is_exclusive) return;
  PortReport ports(subject, report);
  for (const Assigned& one : subject.runs.assigned) {
    const auto number = written_number(one.value);
    if (!names_port(one.name) || !one.is_literal || !is_port(number)) continue;
    std::vector<Edit> edits;
    if (one.around.inner == 0 && !one.around.is_in_function && ports.is_alone(*number))
      edits.push_back({one.value_span, "$((20000 + SLURM_JOB_ID % 12000))"});
    ports.add(*number, one.span, std::move(edits));
  }
  for (const Run* run : work_of(subject)) {
    if (!run->launch.starts_processes) continue;
    if (program_option(run->words, run->launch.program_at, "standalone")) continue;
    for (const char* name :
         {"master_port", "main_process_port", "rdzv_endpoint", "deepspeed_port"}) {
      const auto option = program_option(run->words, run->launch.program_at, name);
      if (!option) continue;
      const auto number = std::string_view(name) == "rdzv_endpoint" ? port_of(option->value)
                                                                    : written_number(option->value);
      if (is_port(number))
        ports.add(*number, subject.place_of(std::to_string(*number), option->span), {});
    }
  }
}

bool names_master(const std::string& name) {
  const std::string lower = in_lower_case(name);
  for (const char* word : {"master", "head", "rdzv", "main_process_ip", "rendezvous", "chief"})
    if (lower.find(word) != std::string::npos)
      return lower.find("port") == std::string::npos && lower.find("nodes") == std::string::npos;
  return false;
}

bool names_address(const std::string& name) {
  const std::string lower = in_lower_case(name);
  return lower == "master_addr" || lower == "master_address" || lower == "masteraddr" ||
         lower == "master_ip" || lower == "head_node_ip" || lower == "main_process_ip" ||
         lower == "rdzv_host";
}

bool cuts_node_list(const std::string& value) {
  for (const char* list : {"NODELIST:", "NODELIST%", "NODELIST/"})
    if (value.find(list) != std::string::npos) return true;
  if (value.find("NODELIST") == std::string::npos) return false;
  if (value.find("scontrol") != std::string::npos || value.find("nodeset") != std::string::npos)
    return false;
  for (const char* tool : {" cut ", "head -c", "| sed", "| awk", "| tr"})
    if (value.find(tool) != std::string::npos) return true;
  return false;
}

void check_master_cut_from_list(const Subject& subject, Report& report) {
  if (subject.job.nodes == 1) return;
  for (const Assigned& one : subject.runs.assigned)
    if (names_master(one.name) && cuts_node_list(one.value.text))
      report.add(
          one.span,
          "the first node is cut out of the node list: that fails for other names and lists");
}

void check_master_by_own_address(const Subject& subject, Report& report) {
  if (!subject.job.has_many_nodes()) return;
  for (const Assigned& one : subject.runs.assigned) {
    if (!names_master(one.name) || one.around.inner > 0) continue;
    const std::string_view typed =
        subject.text.substr(one.span.begin, one.span.end - one.span.begin);
    if (typed.find("hostname") == std::string_view::npos) continue;  // already reported
    for (const char* command :
         {"hostname -i", "hostname --ip-address", "hostname -I", "hostname --all-ip-addresses"})
      if (one.value.text.find(command) != std::string::npos) {
        report.add(
            one.span,
            fmt::format("`{}` may answer 127.0.1.1, or the address of another network", command));
        break;
      }
  }
}

bool is_this_host(const std::string& host) {
  return host == "localhost" || host.starts_with("127.") || host == "::1" || host == "0.0.0.0";
}

void check_master_is_localhost(const Subject& subject, Report& report) {
  if (!subject.job.has_many_nodes()) return;
  for (const Assigned& one : subject.runs.assigned)
    if (names_address(one.name) && one.is_literal && !one.around.is_conditional &&
        is_this_host(std::string(trim(one.value.text))))
      report.add(one.span, "each node looks for the first rank on itself");
  for (const Run* run : work_of(subject)) {
    if (!run->launch.starts_processes || run->launch.launcher == Launcher::none) continue;
    if (const auto nodes = nodes_without_address(subject, *run))
      report.add(
          subject.place_of("--nnodes", run->span),
          "torchrun is told no address, and looks for the first rank on each node itself: it "
          "does not read MASTER_ADDR",
          "give it the first node: --master-addr, or --rdzv-backend c10d with --rdzv-endpoint");
    for (const char* name : {"master_addr", "main_process_ip", "rdzv_endpoint"})
      if (const auto option = program_option(run->words, run->launch.program_at, name)) {
        const std::string host = option->value.text.substr(0, option->value.text.rfind(':'));
        if (is_this_host(host))
          report.add(subject.place_of(host, option->span),
                     "each node looks for the first rank on itself");
      }
  }
}

void check_master_written_out(const Subject& subject, Report& report) {
  if (!subject.job.has_many_nodes() || subject.directive("nodelist") != nullptr) return;
  for (const Assigned& one : subject.runs.assigned) {
    const std::string host(trim(one.value.text));
    if (!names_address(one.name) || !one.is_literal || one.around.is_conditional || host.empty())
      continue;
    if (is_this_host(host) || is_placeholder(host)) continue;
    report.add(one.span,
               fmt::format("`{}` is one node of the cluster, and Slurm chooses others", host));
  }
}

void check_rendezvous_in_each_task(const Subject& subject, Report& report) {
  if (!subject.job.has_many_nodes()) return;
  const auto& runs = subject.runs.runs;
  for (const Assigned& one : subject.runs.assigned) {
    if (one.around.inner == 0 || one.around.is_conditional) continue;
    const bool is_in_step = std::any_of(runs.begin(), runs.end(), [&](const Run& run) {
      return run.around.inner == 0 && run.launch.launcher == Launcher::srun &&
             run.span.begin == one.span.begin;
    });
    if (!is_in_step) continue;
    const std::string& value = one.value.text;
    const bool is_own = names_address(one.name) && value.find("(hostname") != std::string::npos;
    const bool is_random = names_port(one.name) && (value.find("RANDOM") != std::string::npos ||
                                                    value.find("shuf") != std::string::npos);
    if (is_own || is_random)
      report.add(
          subject.place_of(one.name, one.span),
          fmt::format("every task gets another {}, as each one finds it out for itself", one.name));
  }
}

void check_first_node_is_not_rank_0(const Subject& subject, Report& report) {
  if (!subject.job.has_many_nodes()) return;
  for (const Assigned& one : subject.runs.assigned)
    if (names_address(one.name) && one.value.text.find("hostnames") != std::string::npos)
      report.add(one.span, "the first node of the list need not have rank 0");
}

}  // namespace

std::vector<Rule> rendezvous_rules() {
  return {
      {.id = "fixed-port",
       .severity = Severity::warning,
       .title = "the port of the rendezvous is the same for every job",
       .reason =
           "Two jobs that share a node cannot both listen on it; one ends with `Address already "
           "in use`, or its ranks join the other one. A process of the previous attempt can hold "
           "it, too. Jobs with --exclusive are not reported.",
       .fix = "derive it from the job: MASTER_PORT=$((20000 + SLURM_JOB_ID % 12000))",
       .check = check_fixed_port,
       .can_fix = true},
      {.id = "master-cut-from-list",
       .severity = Severity::warning,
       .title = "the first node's name is cut out of the node list by position",
       .reason = "`node[07-08]` becomes `node[07-0`, and a name of another length is truncated.",
       .fix = "scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1",
       .check = check_master_cut_from_list},
      {.id = "master-by-own-address",
       .severity = Severity::warning,
       .title = "the first node is asked for its own address",
       .reason = "`hostname -i` prints what /etc/hosts has for the host's name, often a loopback "
                 "address, and `hostname -I` lists every network in any order: other nodes may not "
                 "reach it.",
       .fix = "use the node's name: scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1",
       .check = check_master_by_own_address},
      {.id = "master-is-localhost",
       .severity = Severity::error,
       .title = "each node looks for the first rank on itself",
       .reason = "The job has several nodes: the others wait for the first rank in vain, or each "
                 "node trains on its own. torchrun without --master-addr and "
                 "--rdzv-endpoint takes 127.0.0.1; it reads PET_MASTER_ADDR, not MASTER_ADDR.",
       .fix = "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)",
       .check = check_master_is_localhost},
      {.id = "master-written-out",
       .severity = Severity::warning,
       .title = "the first node's address is written out",
       .reason = "Slurm chooses the nodes: the next job may run on others.",
       .fix = "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)",
       .check = check_master_written_out},
      {.id = "rendezvous-in-each-task",
       .severity = Severity::error,
       .title = "each task computes its own rendezvous",
       .reason = "Within `srun bash -c '...'`, $(hostname) differs on each node and $RANDOM in "
                 "each task: each task trains on its own, or none does.",
       .fix = "set and export it in the script, before srun",
       .check = check_rendezvous_in_each_task},
      {.id = "first-node-is-not-rank-0",
       .severity = Severity::note,
       .title = "from 26.05 on, rank 0 may not be on the first node of the list",
       .reason = "26.05 orders the nodes of a step by topology where a topology plug-in is set up, "
                 "unless CR_NO_DIST_TOPO_BLOCK is set.",
       .fix = "have rank 0 publish its address; `dtsubmit` does",
       .check = check_first_node_is_not_rank_0,
       .since = {26, 5},
       .needs_release = true},
  };
}

}  // namespace dts::lint
