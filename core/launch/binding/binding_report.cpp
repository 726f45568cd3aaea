// SPDX-License-Identifier: Apache-2.0
#include "core/launch/binding/binding_report.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/text/alike.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::launch {
namespace {

constexpr std::size_t k_most_lines = 16;

std::string file_of(const run::RunDirectory& run, unsigned attempt) {
  return run.attempt(attempt) + "/binding.json";
}

// The properties that must be equal for two ranks to share a line.
std::string signature(const RankBound& rank, const std::vector<BindingFinding>& findings) {
  std::string text = fmt::format("{}/{}/{}/{}/{}",
                                 fold_numbers(rank.planned.cpus),
                                 plan::to_text(rank.planned.memory),
                                 fold_numbers(rank.found.cpus),
                                 plan::to_text(rank.found.memory),
                                 rank.found.settled);
  text += "/" + rank.found.thread_places;
  for (const BindingFinding& finding : findings) text += "/" + finding.text;
  return text;
}

unsigned threads_of(const BoundState& state) {
  unsigned threads = 0;
  for (const ThreadGroup& group : state.threads) threads += group.threads;
  return threads;
}

void add(BindingGroup& group, const RankBound& rank, const std::vector<BindingFinding>& findings) {
  const unsigned threads = threads_of(rank.found);
  if (group.ranks.empty()) {
    group.planned = rank.planned;
    group.found = rank.found;
    group.findings = findings;
    group.fewest_threads = group.most_threads = threads;
  }
  group.ranks.push_back(rank.rank);
  if (std::find(group.nodes.begin(), group.nodes.end(), rank.node) == group.nodes.end())
    group.nodes.push_back(rank.node);
  group.fewest_threads = std::min(group.fewest_threads, threads);
  group.most_threads = std::max(group.most_threads, threads);
  for (std::size_t i = 0; i < findings.size(); ++i)
    group.findings[i].threads = std::max(group.findings[i].threads, findings[i].threads);
}

std::string as_planned(const BindingGroup& group) {
  if (group.planned.cpus.empty())
    return fmt::format("not bound, on cores {}", fold_numbers(group.found.cpus));
  std::string text = fmt::format("cores {} as planned", fold_numbers(group.planned.cpus));
  if (group.planned.memory.kind != plan::MemoryPolicy::Kind::none)
    text += fmt::format(", memory {}", plan::to_text(group.found.memory));
  if (!group.found.settled) return text;
  const std::string range = group.fewest_threads == group.most_threads
                                ? std::to_string(group.most_threads)
                                : fmt::format("{} to {}", group.fewest_threads, group.most_threads);
  return text + fmt::format(", {} thread{} too", range, group.most_threads == 1 ? "" : "s");
}

std::string line_of(const BindingGroup& group) {
  std::vector<std::string> words;
  for (const BindingFinding& finding : group.findings) words.push_back(in_words(finding));
  if (!group.found.thread_places.empty()) words.push_back(group.found.thread_places);
  if (!has_mismatch(group.findings)) words.insert(words.begin(), as_planned(group));
  return who(group) + ": " + join(words, "; ");
}

}  // namespace

bool BindingReport::has_mismatch() const {
  return std::any_of(groups.begin(), groups.end(), [](const BindingGroup& group) {
    return launch::has_mismatch(group.findings);
  });
}

std::vector<BindingGroup> group_by_binding(const std::vector<RankBound>& ranks) {
  std::vector<std::vector<BindingFinding>> findings;
  for (const RankBound& rank : ranks) findings.push_back(judge_binding(rank.planned, rank.found));
  std::vector<BindingGroup> groups;
  for (const auto& alike :
       group_alike(ranks.size(), [&](std::size_t i) { return signature(ranks[i], findings[i]); })) {
    BindingGroup& group = groups.emplace_back();
    for (const std::size_t i : alike.members) add(group, ranks[i], findings[i]);
  }
  return groups;
}

std::string who(const BindingGroup& group) {
  return fmt::format("rank{} {} of {}",
                     group.ranks.size() == 1 ? "" : "s",
                     fold_with_steps(group.ranks),
                     fold_hostlist(group.nodes));
}

std::vector<std::string> in_lines(const BindingReport& report) {
  std::vector<std::string> lines;
  for (const bool with_findings : {true, false})
    for (const BindingGroup& group : report.groups)
      if (group.findings.empty() != with_findings) lines.push_back(line_of(group));
  if (lines.size() <= k_most_lines) return lines;
  const std::size_t more = lines.size() - k_most_lines;
  lines.resize(k_most_lines);
  lines.push_back(fmt::format("and {} more groups of ranks, in binding.json", more));
  return lines;
}

Result<void> write_binding(const run::RunDirectory& run, const BindingReport& report) {
  return write_file(
      file_of(run, report.attempt), to_json(report), 0600, Durability::deferred);  // reported again
}

Result<BindingReport> read_binding(const run::RunDirectory& run, unsigned attempt) {
  DTS_ASSIGN(const std::string text, read_own_file(file_of(run, attempt)));
  return binding_report_from(text);
}

}  // namespace dts::launch
