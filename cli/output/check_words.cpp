// SPDX-License-Identifier: Apache-2.0
#include "cli/output/check.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/json_text.hpp"
#include "core/check/measures.hpp"
#include "core/check/spread.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace dts::cli {
namespace {

using nlohmann::ordered_json;

// What users want to know about a node that is fit.
std::string best_of(const check::Node& node) {
  std::string words;
  for (const check::Measured& measured : node.measures)
    for (const char* key : {"cores", "clock", "gemm_fp32", "memory", "gpus"})
      if (measured.key == key)
        words += fmt::format("{}{} {}",
                             words.empty() ? "" : ", ",
                             check::heading(measured),
                             check::quantity(measured.value, measured.unit));
  return words;
}

ordered_json judged_json(const check::Judged& judged, const check::Measured& measured) {
  ordered_json j{{"measure", judged.measure}, {"value", judged.value}, {"unit", measured.unit}};
  if (judged.peers) j["peers"] = *judged.peers;
  if (judged.baseline) j["baseline"] = *judged.baseline;
  j["fit"] = judged.fit;
  return j;
}

ordered_json node_json(const check::NodeVerdict& verdict, const check::Node& node) {
  ordered_json measures = ordered_json::array();
  for (std::size_t i = 0; i < verdict.measures.size(); ++i)
    measures.push_back(judged_json(verdict.measures[i], node.measures[i]));
  ordered_json json{{"node", verdict.name}, {"fit", verdict.fit}, {"reasons", verdict.reasons}};
  if (verdict.others) json["others"] = *verdict.others;
  json["measures"] = std::move(measures);
  return json;
}

}  // namespace

bool has_busy_node(const check::Verdict& verdict) {
  return std::any_of(verdict.nodes.begin(), verdict.nodes.end(), [](const auto& node) {
    return node.others.value_or(0) > k_noteworthy;
  });
}

std::string headline(const CheckReport& report) {
  const check::Verdict& verdict = report.verdict;
  const auto bad_nodes = static_cast<std::size_t>(std::count_if(
      verdict.nodes.begin(), verdict.nodes.end(), [](const auto& n) { return !n.fit; }));
  const auto bad_links = static_cast<std::size_t>(std::count_if(
      verdict.links.begin(), verdict.links.end(), [](const auto& l) { return !l.fit(); }));
  const std::string size =
      counted(verdict.nodes.size(), "node") +
      (verdict.links.empty() ? "" : ", " + counted(verdict.links.size(), "link"));
  if (verdict.fit) return size + (verdict.nodes.size() == 1 ? ": fit" : ": all fit");
  std::string words = size + ": ";
  if (bad_nodes + bad_links == 0) return words + "unfit, and no node can be blamed";
  if (bad_nodes > 0) words += counted(bad_nodes, "node");
  if (bad_links > 0) words += (bad_nodes > 0 ? " and " : "") + counted(bad_links, "link");
  return words + " unfit";
}

std::string to_line(const CheckReport& report) {
  const auto all = check::faults(report.facts, report.verdict);
  const bool is_one = report.facts.nodes.size() == 1;
  if (all.empty() && is_one) {
    const check::Node& node = report.facts.nodes.front();
    const double others = report.verdict.nodes.front().others.value_or(0);
    const std::string busy =
        others > k_noteworthy
            ? fmt::format("; other programs had {} of its processors' time", check::percent(others))
            : "";
    return fmt::format("{}: fit ({}{})\n", node.name, best_of(node), busy);
  }
  if (all.empty()) return headline(report) + "\n";
  return fmt::format("unfit: {}{}\n",
                     all.front(),
                     all.size() > 1 ? fmt::format(" (and {} more)", all.size() - 1) : "");
}

std::string to_json(const CheckReport& report) {
  ordered_json nodes = ordered_json::array();
  for (std::size_t i = 0; i < report.verdict.nodes.size(); ++i)
    nodes.push_back(node_json(report.verdict.nodes[i], report.facts.nodes[i]));
  ordered_json links = ordered_json::array();
  for (std::size_t i = 0; i < report.verdict.links.size(); ++i) {
    const check::LinkVerdict& link = report.verdict.links[i];
    if (!link.fit())
      links.push_back({{"a", report.facts.pairs[i].a},
                       {"b", report.facts.pairs[i].b},
                       {"latency_fit", link.latency_fit},
                       {"bandwidth_fit", link.bandwidth_fit}});
  }
  ordered_json document{{"schema", "dtsubmit/check/1"},
                        {"fit", report.verdict.fit},
                        {"cluster", report.cluster},
                        {"run_directory", report.run},
                        {"baseline", report.baseline},
                        {"faults", check::faults(report.facts, report.verdict)},
                        {"nodes", std::move(nodes)},
                        {"unfit_links", std::move(links)},
                        {"notes", report.verdict.notes},
                        {"facts", ordered_json::parse(report.document, nullptr, false)}};
  if (!report.again.empty()) document["again"] = ordered_json::parse(report.again, nullptr, false);
  return json_text(document);
}

LinkSpeeds::LinkSpeeds(const check::Facts& facts, LinkSpeed which)
    : value_(which == LinkSpeed::bandwidth ? &check::Pair::bandwidth : &check::Pair::latency),
      higher_(which == LinkSpeed::bandwidth) {
  std::vector<double> values;
  for (const check::Pair& pair : facts.pairs)
    if (const auto value = pair.*value_; value && *value > 0) values.push_back(*value);
  if (!values.empty()) median_ = check::median(std::move(values));
}

std::optional<double> LinkSpeeds::of(const check::Pair& pair) const {
  const auto value = pair.*value_;
  if (!value || *value <= 0 || median_ <= 0) return std::nullopt;
  return higher_ ? *value / median_ : median_ / *value;
}

}  // namespace dts::cli
