// SPDX-License-Identifier: Apache-2.0
// Judges what the probe's job found, which cannot be known from outside of a job.
#include "core/base/text/counted.hpp"
#include "core/doctor/questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dts::doctor {
namespace {

constexpr std::uint64_t k_enough_files =
    4096;  // open files; more than a thousand sockets and shards
constexpr std::uint64_t k_enough_scratch = std::uint64_t{1} << 30;  // bytes
constexpr double k_close_clocks = 0.1;                              // s: lines of logs compare
constexpr double k_credential = 300;  // s for which munge accepts a credential: munged(8), --ttl

constexpr const char* k_share_runs = "set --runs to a folder on a file system that all nodes share";

const Probed& probed(const Facts& facts) {
  static const Probed none;
  return facts.probed ? *facts.probed : none;
}

const probe::Facts* rank_of(const Facts& facts, unsigned rank) {
  for (const probe::Facts& one : probed(facts).ranks)
    if (one.rank == rank) return &one;
  return nullptr;
}

bool has_pair(const Facts& facts) {
  return probed(facts).asked_nodes > 1;
}

Verdict one_node() {
  return {Answer::yes, "the job has one node"};
}

Verdict not_measured(const Facts& facts) {
  const Probed& probe = probed(facts);
  const std::string& why = probe.no_start.empty() ? probe.failure : probe.no_start;
  return {Answer::unknown,
          why.empty() ? "its ranks gave no answer" : "the probe did not get that far: " + why};
}

// "n0 and n1", by the names that ranks give their machines.
std::string both(const probe::Facts& first) {
  return first.host == first.other_host ? fmt::format("two nodes on {}", first.host)
                                        : fmt::format("{} and {}", first.host, first.other_host);
}

bool is_enough(const std::optional<std::uint64_t>& limit, std::uint64_t least) {
  return !limit || *limit >= least;
}

std::string in_kib(const std::optional<std::uint64_t>& limit) {
  return limit ? fmt::format("{} KiB", *limit >> 10U) : "unlimited";
}

// The smallest value of all ranks; nullopt: unlimited everywhere.
std::optional<std::uint64_t> least(const Facts& facts,
                                   std::optional<std::uint64_t> probe::Facts::*member) {
  std::optional<std::uint64_t> found;
  for (const probe::Facts& one : probed(facts).ranks)
    if (one.*member && (!found || *(one.*member) < *found)) found = one.*member;
  return found;
}

}  // namespace

Verdict judge_probe_start(const Facts& facts) {
  const Probed& probe = probed(facts);
  if (!probe.no_start.empty())
    return {probe.is_refused ? Answer::no : Answer::unknown,
            probe.no_start,
            probe.is_refused ? "" : "try again when nodes are free, or with a longer --probe-wait"};
  const auto waited = probe.waited.count();
  if (!probe.failure.empty())
    return {Answer::no,
            fmt::format("job {} began on {} after {} s in the queue, and failed: {}",
                        probe.job,
                        probe.nodes,
                        waited,
                        probe.failure)};
  return {Answer::yes,
          fmt::format("job {} ran on {} after {} s in the queue", probe.job, probe.nodes, waited)};
}

Verdict judge_probe_ranks(const Facts& facts) {
  const probe::Facts* first = rank_of(facts, 0);
  if (!has_pair(facts)) return first != nullptr ? one_node() : not_measured(facts);
  if (first == nullptr) return not_measured(facts);
  if (!first->met_after || !first->trouble.empty())
    return {Answer::no,
            fmt::format("they did not meet at MASTER_ADDR and MASTER_PORT: {}", first->trouble),
            "--interface names the network between the nodes; a firewall may close ports"};
  return {
      Answer::yes,
      fmt::format("{} met at {} within {:.2f} s", both(*first), first->where, *first->met_after)};
}

Verdict judge_probe_folder(const Facts& facts) {
  if (!has_pair(facts)) return rank_of(facts, 0) ? one_node() : not_measured(facts);
  const probe::Facts *first = rank_of(facts, 0), *second = rank_of(facts, 1);
  const std::string& folder = facts.machine.runs;
  const std::string& failure = probed(facts).failure;
  if (!folder.empty() && failure.find(folder + "/") != std::string::npos)
    return {Answer::no, failure, k_share_runs};
  // A rank whose file is missing here wrote it to a place that we do not see.
  if (first == nullptr && second == nullptr) return not_measured(facts);
  if (first == nullptr || second == nullptr)
    return {
        Answer::no,
        fmt::format(
            "this machine does not see what rank {} wrote to {}", first == nullptr ? 0 : 1, folder),
        k_share_runs};
  if (!first->met_after) return not_measured(facts);
  if (first->file_after && second->file_after)
    return {Answer::yes,
            fmt::format("each of its nodes, and this machine, sees what the others write to {}, "
                        "within {:.2f} s",
                        folder,
                        std::max(*first->file_after, *second->file_after))};
  return {Answer::no,
          fmt::format("{} does not see in {} what the other node wrote there",
                      first->file_after ? second->host : first->host,
                      folder),
          k_share_runs};
}

Verdict judge_probe_clocks(const Facts& facts) {
  const probe::Facts* first = rank_of(facts, 0);
  if (!has_pair(facts)) return first != nullptr ? one_node() : not_measured(facts);
  if (first == nullptr || !first->clocks) return not_measured(facts);
  const probe::Clocks& clocks = *first->clocks;
  const std::string found = fmt::format(
      "the clock of {} is {:.1f} ms {} that of {} (within {:.2f} ms: half of the shortest of {} "
      "round trips)",
      first->other_host,
      std::abs(clocks.offset) * 1e3,
      clocks.offset < 0 ? "behind" : "ahead of",
      first->host,
      clocks.round_trip / 2 * 1e3,
      clocks.exchanges);
  const double apart = std::abs(clocks.offset) - clocks.round_trip / 2;
  if (apart <= k_close_clocks) return {Answer::yes, found};
  constexpr const char* k_ask = "ask the administrators for chrony (NTP) on the nodes";
  if (apart >= k_credential)
    return {Answer::no, found + "; munge refuses credentials that far apart (300 s)", k_ask};
  return {
      Answer::partly, found + "; times in the logs of different nodes cannot be compared", k_ask};
}

Verdict judge_probe_names(const Facts& facts) {
  const probe::Facts *first = rank_of(facts, 0), *second = rank_of(facts, 1);
  if (!has_pair(facts)) return first != nullptr ? one_node() : not_measured(facts);
  if (first == nullptr || second == nullptr || !first->other_resolves || !second->other_resolves)
    return not_measured(facts);
  if (*first->other_resolves && *second->other_resolves)
    return {Answer::yes, fmt::format("{} know each other's names", both(*first))};
  const probe::Facts& ignorant = *first->other_resolves ? *second : *first;
  return {Answer::partly,
          fmt::format("{} does not know the name of {}; dtsubmit passes addresses, but a program "
                      "that asks for names fails",
                      ignorant.host,
                      ignorant.other_host),
          "ask the administrators to enter all nodes in DNS or /etc/hosts"};
}

Verdict judge_probe_ssh(const Facts& facts) {
  const probe::Facts* first = rank_of(facts, 0);
  if (!has_pair(facts)) return first != nullptr ? one_node() : not_measured(facts);
  if (first == nullptr || !first->ssh) return not_measured(facts);
  if (first->ssh->works)
    return {Answer::yes, fmt::format("ssh from {} to {} works", first->host, first->other_host)};
  const std::string found = fmt::format(
      "ssh from {} to {} does not work: {}", first->host, first->other_host, first->ssh->said);
  if (facts.job.starts_by_ssh)
    return {Answer::no, found, "its program starts others through ssh; let dtsubmit start them"};
  return {Answer::partly,
          found + "; dtsubmit does not need ssh, but launchers such as deepspeed do"};
}

Verdict judge_probe_limits(const Facts& facts) {
  if (probed(facts).ranks.empty()) return not_measured(facts);
  const auto memlock = least(facts, &probe::Facts::memlock);
  const auto nofile = least(facts, &probe::Facts::nofile);
  const std::string found = fmt::format("in the job: locked memory {} (here {}), open files {}",
                                        in_kib(memlock),
                                        in_kib(facts.machine.memlock),
                                        nofile ? std::to_string(*nofile) : "unlimited");
  const bool locks = facts.job.nodes < 2 || is_enough(memlock, k_needed_memlock);
  if (locks && is_enough(nofile, k_enough_files)) return {Answer::yes, found};
  std::vector<Wish> wishes;
  for (const auto& [name, is_fine] :
       {std::pair{"MEMLOCK", locks}, {"NOFILE", is_enough(nofile, k_enough_files)}})
    if (!is_fine)
      wishes.push_back({"slurm.conf",
                        "PropagateResourceLimitsExcept",
                        std::string(setting(facts, "PropagateResourceLimitsExcept")),
                        name,
                        "jobs would get the limit of slurmd, which systemd can raise"});
  return {
      Answer::partly,
      found + (locks ? "" : "; InfiniBand and RoCE cannot register their buffers") +
          (is_enough(nofile, k_enough_files) ? "" : "; sockets and data files may exhaust them"),
      fmt::format("--ulimit {}, if the hard limit allows it",
                  locks ? fmt::format("nofile={}", k_enough_files) : "memlock=unlimited"),
      std::move(wishes)};
}

Verdict judge_probe_cores(const Facts& facts) {
  const Probed& probe = probed(facts);
  if (probe.ranks.empty()) return not_measured(facts);
  const auto widest = std::max_element(
      probe.ranks.begin(), probe.ranks.end(), [](const probe::Facts& a, const probe::Facts& b) {
        return a.reachable.size() < b.reachable.size();
      });
  const std::size_t reached = widest->reachable.size();
  const std::size_t given =
      probe.cores.empty() ? 0 : *std::max_element(probe.cores.begin(), probe.cores.end());
  const std::string found =
      fmt::format("a rank bound to {} could bind itself to {} of the {} of {}",
                  counted(widest->cores.size(), "core"),
                  reached,
                  counted(widest->machine_cores, "core"),
                  widest->host);
  if (given == 0) return {Answer::unknown, found + "; the job's number of cores is unknown"};
  if (reached <= given)
    return {Answer::yes, fmt::format("{}, and the job has {}: it cannot leave them", found, given)};
  return {Answer::partly,
          fmt::format("{}, and the job has {}: other jobs could do the same", found, given),
          "--exclusive requests whole nodes"};
}

Verdict judge_probe_warning(const Facts& facts) {
  const Probed& probe = probed(facts);
  const probe::Facts* first = rank_of(facts, 0);
  if (first == nullptr) return not_measured(facts);
  if (!first->not_warned.empty())
    return {Answer::unknown,
            fmt::format("the signal could not be sent from the node: {}", first->not_warned)};
  double slowest = 0;
  for (const probe::Facts& one : probe.ranks) {
    if (!one.warned_after)
      return {Answer::no,
              fmt::format("rank {} on {} got no SIGTERM after the job's warning signal (SIGUSR1)",
                          one.rank,
                          one.host)};
    slowest = std::max(slowest, *one.warned_after);
  }
  return {Answer::yes,
          fmt::format("SIGTERM reached every rank within {:.2f} s of the job's warning signal "
                      "(SIGUSR1)",
                      slowest)};
}

Verdict judge_probe_scratch(const Facts& facts) {
  const Probed& probe = probed(facts);
  if (probe.ranks.empty()) return not_measured(facts);
  std::string found;
  bool is_little = false;
  for (const probe::Facts& one : probe.ranks) {
    if (!one.scratch_free) return {Answer::unknown, fmt::format("{} cannot be read", one.scratch)};
    is_little = is_little || *one.scratch_free < k_enough_scratch;
    found += fmt::format("{}{:.1f} GiB free in {} of {}",
                         found.empty() ? "" : ", ",
                         static_cast<double>(*one.scratch_free) / static_cast<double>(1U << 30U),
                         one.scratch,
                         one.host);
  }
  return {is_little ? Answer::partly : Answer::yes,
          found,
          is_little ? "set TMPDIR to a larger folder, in --setup" : ""};
}

}  // namespace dts::doctor
