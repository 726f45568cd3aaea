// SPDX-License-Identifier: Apache-2.0
#include "core/check/judge.hpp"
#include "core/check/spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace dts::check {
namespace {

constexpr std::size_t k_few_peers = 2;  // up to this number the tolerance is doubled

constexpr std::size_t k_enough = 8;  // this many distances show a measure's own noise

// One measure of all nodes with the same CPU model.
struct Column {
  const Measure* row = nullptr;
  std::vector<std::size_t> nodes;  // those that have the measure, ascending
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

// The values of an earlier check: the node's own, or otherwise the median of its kind of node.
class Earlier {
 public:
  explicit Earlier(const Facts* baseline) {
    if (baseline == nullptr) return;
    began_ = baseline->began;
    for (const Node& node : baseline->nodes)
      for (const Measured& measured : node.measures) {
        OfKind& kind = kinds_[{node.cpu, identity(measured)}];
        kind.all.push_back(measured.value);
        kind.own.emplace(node.name, measured.value);
      }
    for (auto& [key, kind] : kinds_) kind.middle = median(kind.all);
  }

  [[nodiscard]] std::optional<double> of(const Node& node, const std::string& measure) const {
    const auto kind = kinds_.find({node.cpu, measure});
    if (kind == kinds_.end()) return std::nullopt;
    const auto own = kind->second.own.find(node.name);
    return own != kind->second.own.end() ? own->second : kind->second.middle;
  }

  [[nodiscard]] std::string words() const {
    return began_.empty() ? "the baseline" : "the baseline of " + began_;
  }

 private:
  struct OfKind {
    std::vector<double> all;
    std::map<std::string, double> own;  // by node
    double middle = 0;
  };

  std::map<std::pair<std::string, std::string>, OfKind> kinds_;  // by CPU and identity()
  std::string began_;
};

class Group {
 public:
  Group(const Facts& facts,
        const Limits& limits,
        const Earlier& earlier,
        const std::vector<std::size_t>& nodes)
      : facts_(facts),
        limits_(limits),
        earlier_(earlier),
        nodes_(nodes),
        columns_(columns_of(facts, nodes)),
        noise_(limits.deviations) {
    for (const auto& [measure, column] : columns_)
      samples_.emplace(measure, Sample(logarithms(column.values)));
  }

  void judge(Verdict& verdict) {
    for (const auto& [measure, column] : columns_) {
      std::vector<std::size_t> behind;  // nodes that are behind the baseline
      for (std::size_t i = 0; i < column.nodes.size(); ++i)
        judge_one(measure, column, i, behind, verdict);
      blame_for_baseline(column, behind, verdict);
    }
  }

 private:
  // What noise can do to a node's value, estimated from all measures of its family, or from the
  // measure alone if there are enough peers.
  double noise(const Column& column, const Sample& own, std::size_t i) {
    std::vector<JointNoise::Member> members;
    const std::size_t node = column.nodes[i];
    for (const auto& [measure, other] : columns_) {
      if (other.row->family != column.row->family) continue;
      const auto at = std::lower_bound(other.nodes.begin(), other.nodes.end(), node);
      if (at == other.nodes.end() || *at != node) continue;
      members.push_back(
          {&samples_.at(measure), static_cast<std::size_t>(at - other.nodes.begin())});
    }
    const double joint = noise_.limit(members);
    return own.peers() <= k_enough ? joint : std::max(joint, noise_.limit({{&own, i}}));
  }

  bool is_behind(
      const Column& column, double value, double reference, double scale, double noise) const {
    const double tolerance = limits_.tolerance(*column.row) * scale;
    const double limit =
        std::max(allowed(column.row->better, tolerance), std::min(noise, k_no_noise));
    return worse_by(column.row->better, value, reference) > limit + 1e-9;
  }

  void judge_one(const std::string& measure,
                 const Column& column,
                 std::size_t i,
                 std::vector<std::size_t>& behind,
                 Verdict& verdict) {
    const std::size_t node = column.nodes[i];
    const Measured& measured = facts_.nodes[node].measures[column.places[i]];
    Judged& judged = verdict.nodes[node].measures[column.places[i]];
    const Sample& sample = samples_.at(measure);
    const bool is_count = column.row->family == Family::count;
    const double noisy = is_count ? 0 : noise(column, sample, i);
    if (sample.peers() > 0) {
      judged.peers = std::exp(sample.centre(i));
      // Undoes the rounding of logarithms; a quota may leave 1.75 cores.
      if (is_count) judged.peers = std::round(*judged.peers * 1000) / 1000;
      const double scale = sample.peers() <= k_few_peers ? 2 : 1;
      if (is_behind(column, measured.value, *judged.peers, scale, noisy)) {
        judged.fit = false;
        blame(verdict.nodes[node], reason(*column.row, measured, *judged.peers, "its peers'"));
      }
    }
    if (column.row->has_baseline) judged.baseline = earlier_.of(facts_.nodes[node], measure);
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

  // If most nodes have become slower, no single one can be blamed.
  void blame_for_baseline(const Column& column,
                          const std::vector<std::size_t>& behind,
                          Verdict& verdict) const {
    if (behind.empty()) return;
    const std::string whose = earlier_.words();
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
      if (!judged.fit) continue;  // already reported
      judged.fit = false;
      const Measured& measured = facts_.nodes[node].measures[column.places[i]];
      blame(verdict.nodes[node], reason(*column.row, measured, *judged.baseline, whose + "'s"));
    }
  }

  const Facts& facts_;
  const Limits& limits_;
  const Earlier& earlier_;
  const std::vector<std::size_t>& nodes_;
  Columns columns_;
  std::map<std::string, Sample> samples_;
  JointNoise noise_;
};

// Notes measures that most nodes of a group have and some lack.
void note_missing(const Facts& facts, const std::vector<std::size_t>& nodes, Verdict& verdict) {
  for (const auto& [measure, column] : columns_of(facts, nodes)) {
    if (column.nodes.size() == nodes.size() || column.nodes.size() * 2 < nodes.size()) continue;
    std::vector<std::string> without;
    for (const std::size_t node : nodes)
      if (!std::binary_search(column.nodes.begin(), column.nodes.end(), node))
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
  const Earlier earlier(baseline);
  for (const auto& [cpu, nodes] : groups) {
    Group(facts, limits, earlier, nodes).judge(verdict);
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
