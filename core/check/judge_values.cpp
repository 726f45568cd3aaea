// SPDX-License-Identifier: Apache-2.0
#include "core/check/judge.hpp"
#include "core/check/spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace dts::check {
namespace {

constexpr std::size_t k_few_peers = 2;  // up to here the tolerance is doubled

constexpr std::size_t k_enough = 8;  // distances to know a measure's own noise

// A measure as all nodes of one CPU model have it.
struct Column {
  const Measure* row = nullptr;
  std::vector<std::size_t> nodes;  // that have it
  std::vector<double> values;
  std::vector<std::size_t> places;  // in Node::measures
};

using Columns = std::map<std::string, Column>;  // by identity()

std::map<std::string, std::vector<std::size_t>> by_cpu(const Facts& facts) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < facts.nodes.size(); ++i) groups[facts.nodes[i].cpu].push_back(i);
  return groups;
}

Columns columns_of(const Facts& facts, const std::vector<std::size_t>& nodes) {
  Columns columns;
  for (const std::size_t node : nodes) {
    const auto& measures = facts.nodes[node].measures;
    for (std::size_t place = 0; place < measures.size(); ++place) {
      const Measure* row = find_measure(measures[place].key);
      if (row == nullptr || row->family == Family::clock) continue;
      Column& column = columns[identity(measures[place])];
      column.row = row;
      column.nodes.push_back(node);
      column.values.push_back(measures[place].value);
      column.places.push_back(place);
    }
  }
  return columns;
}

std::vector<double> logarithms(std::vector<double> values) {
  for (double& value : values) value = std::log(std::max(value, 1e-300));
  return values;
}

// What a node had in an earlier check, or the median of its kind of node then.
std::optional<double> earlier(const Facts* baseline, const Node& node, const std::string& measure) {
  if (baseline == nullptr) return std::nullopt;
  std::vector<double> of_kind;
  for (const Node& old : baseline->nodes) {
    if (old.cpu != node.cpu) continue;
    for (const Measured& measured : old.measures) {
      if (identity(measured) != measure) continue;
      if (old.name == node.name) return measured.value;
      of_kind.push_back(measured.value);
    }
  }
  return of_kind.empty() ? std::nullopt : std::optional(median(std::move(of_kind)));
}

class Group {
 public:
  Group(const Facts& facts,
        const Limits& limits,
        const Facts* baseline,
        const std::vector<std::size_t>& nodes)
      : facts_(facts),
        limits_(limits),
        baseline_(baseline),
        nodes_(nodes),
        columns_(columns_of(facts, nodes)) {
    for (const auto& [measure, column] : columns_)
      samples_.emplace(measure, Sample(logarithms(column.values)));
  }

  void judge(Verdict& verdict) const {
    for (const auto& [measure, column] : columns_) {
      std::vector<std::size_t> behind;  // the baseline
      for (std::size_t i = 0; i < column.nodes.size(); ++i)
        judge_one(measure, column, i, behind, verdict);
      blame_for_baseline(measure, column, behind, verdict);
    }
  }

 private:
  // What noise of the family's measures, without this node, can do to one value.
  double noise(Family family, std::size_t node) const {
    if (family == Family::count) return 0;
    std::vector<double> all;
    for (const auto& [measure, column] : columns_) {
      if (column.row->family != family) continue;
      const auto at = std::find(column.nodes.begin(), column.nodes.end(), node);
      if (at == column.nodes.end()) continue;
      const auto place = static_cast<std::size_t>(at - column.nodes.begin());
      const Spread spread = samples_.at(measure).without(place);
      all.insert(all.end(), spread.distances.begin(), spread.distances.end());
    }
    return noise_limit(std::move(all), limits_.deviations);
  }

  bool is_behind(
      const Column& column, double value, double reference, double scale, double noise) const {
    const double tolerance = limits_.tolerance(*column.row) * scale;
    const double limit = std::max(allowed(column.row->better, tolerance), noise);
    return worse_by(column.row->better, value, reference) > limit + 1e-9;
  }

  void judge_one(const std::string& measure,
                 const Column& column,
                 std::size_t i,
                 std::vector<std::size_t>& behind,
                 Verdict& verdict) const {
    const std::size_t node = column.nodes[i];
    const Measured& measured = facts_.nodes[node].measures[column.places[i]];
    Judged& judged = verdict.nodes[node].measures[column.places[i]];
    const Spread spread = samples_.at(measure).without(i);
    const double own =
        spread.distances.size() < k_enough ? 0 : noise_limit(spread.distances, limits_.deviations);
    const bool is_count = column.row->family == Family::count;
    const double noisy = is_count ? 0 : std::max(own, noise(column.row->family, node));
    if (spread.peers > 0) {
      judged.peers = std::exp(spread.centre);
      // What is counted must not be rounded.
      if (is_count) judged.peers = std::round(*judged.peers * 2) / 2;
      if (is_behind(
              column, measured.value, *judged.peers, spread.peers <= k_few_peers ? 2 : 1, noisy)) {
        judged.fit = false;
        blame(verdict.nodes[node], reason(*column.row, measured, *judged.peers, "its peers'"));
      }
    }
    if (column.row->has_baseline) judged.baseline = earlier(baseline_, facts_.nodes[node], measure);
    if (judged.baseline && is_behind(column, measured.value, *judged.baseline, 2, noisy))
      behind.push_back(i);
  }

  static std::string reason(const Measure& row,
                            const Measured& measured,
                            double reference,
                            const std::string& whose) {
    return fmt::format("{} is {} {} ({})",
                       label(measured),
                       ratio_in_words(row.better, measured.value, reference),
                       whose,
                       of_quantity(measured.value, reference, measured.unit));
  }

  // If most nodes have become slower, none of them is the odd one.
  void blame_for_baseline(const std::string& measure,
                          const Column& column,
                          const std::vector<std::size_t>& behind,
                          Verdict& verdict) const {
    if (behind.empty()) return;
    const std::string whose =
        baseline_->began.empty() ? "the baseline" : "the baseline of " + baseline_->began;
    if (nodes_.size() > 2 && behind.size() * 2 > nodes_.size()) {
      verdict.cluster.push_back(
          fmt::format("{} is behind {} on {} of {} nodes",
                      label(facts_.nodes[column.nodes.front()].measures[column.places.front()]),
                      whose,
                      behind.size(),
                      nodes_.size()));
      return;
    }
    for (const std::size_t i : behind) {
      const std::size_t node = column.nodes[i];
      Judged& judged = verdict.nodes[node].measures[column.places[i]];
      if (!judged.fit) continue;  // said already
      judged.fit = false;
      const Measured& measured = facts_.nodes[node].measures[column.places[i]];
      blame(verdict.nodes[node], reason(*column.row, measured, *judged.baseline, whose + "'s"));
    }
    (void)measure;
  }

  const Facts& facts_;
  const Limits& limits_;
  const Facts* baseline_;
  const std::vector<std::size_t>& nodes_;
  Columns columns_;
  std::map<std::string, Sample> samples_;
};

// Measures that most nodes of a group have, and some have not.
void note_missing(const Facts& facts, const std::vector<std::size_t>& nodes, Verdict& verdict) {
  for (const auto& [measure, column] : columns_of(facts, nodes)) {
    if (column.nodes.size() == nodes.size() || column.nodes.size() * 2 < nodes.size()) continue;
    std::vector<std::string> without;
    for (const std::size_t node : nodes)
      if (std::find(column.nodes.begin(), column.nodes.end(), node) == column.nodes.end())
        without.push_back(facts.nodes[node].name);
    const Measured& example = facts.nodes[column.nodes.front()].measures[column.places.front()];
    verdict.notes.push_back(
        fmt::format("{} was not measured on {}", label(example), in_words(without)));
  }
}

}  // namespace

std::string ratio_in_words(Better better, double value, double reference) {
  const double ratio = value / reference;
  if (better == Better::higher) return fmt::format("{:.0f} % of", std::floor(ratio * 100));
  return fmt::format("{:.{}f} times", ratio, ratio < 10 ? 1 : 0);
}

std::string in_words(const std::vector<std::string>& names) {
  constexpr std::size_t k_named = 4;
  std::string words;
  for (std::size_t i = 0; i < names.size() && i < k_named; ++i)
    words += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > k_named) words += fmt::format(" and {} more", names.size() - k_named);
  return words;
}

void judge_values(const Facts& facts,
                  const Limits& limits,
                  const Facts* baseline,
                  Verdict& verdict) {
  const auto groups = by_cpu(facts);
  for (const auto& [cpu, nodes] : groups) {
    Group(facts, limits, baseline, nodes).judge(verdict);
    note_missing(facts, nodes, verdict);
    std::vector<std::string> names;
    for (const std::size_t node : nodes) names.push_back(facts.nodes[node].name);
    if (groups.size() > 1)
      verdict.notes.push_back(fmt::format("compared with each other, as their CPU is {}: {}",
                                          cpu.empty() ? "not known" : cpu,
                                          in_words(names)));
  }
}

}  // namespace dts::check
