// SPDX-License-Identifier: Apache-2.0
// The report as a page: one file, without scripts, for light and dark screens, wide and narrow
// ones.
#include "cli/output/check.hpp"
#include "cli/output/check_picture.hpp"
#include "core/check/measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace dts::cli {
namespace {

using svg::escaped;

// The shades have one hue and decreasing lightness, so that they can be distinguished without
// colour.
constexpr const char* k_style = R"(
:root{--page:#f6f7f9;--card:#fff;--ink:#1b1f24;--faint:#5c6670;--line:#dde2e7;--good:#1a7f45;
--bad:#b3261e;--bad-bg:#fdeceb;--good-bg:#e6f4ec;--bar:#4a78c2;--self:#e4e7eb}
@media (prefers-color-scheme:dark){:root{--page:#111417;--card:#1a1e23;--ink:#e6e9ec;--faint:#9aa4ae;
--line:#2e353c;--good:#5cc98a;--bad:#ff8a80;--bad-bg:#3a1f1e;--good-bg:#17301f;--bar:#6b9be8;--self:#2a3037}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}
main{max-width:1280px;margin:0 auto;padding:24px 16px 48px}
h1{font-size:24px;margin:0 0 4px;overflow-wrap:anywhere}h2{font-size:16px;margin:0 0 12px}
.faint,p.faint{color:var(--faint)}p{margin:4px 0}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:16px 18px;margin-top:16px}
.badge{display:inline-block;padding:3px 12px;border-radius:99px;font-weight:600;margin-bottom:8px}
.badge.fit{color:var(--good);background:var(--good-bg)}.badge.unfit{color:var(--bad);background:var(--bad-bg)}
ul{margin:0;padding-left:18px}li{margin:4px 0;overflow-wrap:anywhere}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums;white-space:nowrap}
th,td{text-align:right;vertical-align:top;padding:6px 7px;border-bottom:1px solid var(--line)}
th{font-weight:600;color:var(--faint);white-space:normal;vertical-align:bottom}th:first-child,td:first-child{text-align:left;padding-left:0}
th:nth-child(2),td:nth-child(2){text-align:left}
tr:last-child td{border-bottom:0}
td.bad{color:var(--bad);background:var(--bad-bg);font-weight:600}
td small{display:block;color:var(--faint);font-weight:400}td.bad small{color:var(--bad)}
.maps{display:flex;flex-wrap:wrap;gap:16px;margin-top:16px}.maps .card{flex:1 1 320px;min-width:0;margin:0}
svg{max-width:100%;height:auto;display:block}
svg text{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:var(--ink)}
svg .faint{fill:var(--faint)}.mid{text-anchor:middle}.bar{fill:var(--bar)}.self{fill:var(--self)}
.unfit.cell{stroke:#b3261e;stroke-width:2}svg text.on{fill:#10202c}svg text.bad{font-weight:bold}
.legend{display:flex;align-items:center;gap:2px;margin-top:10px;font-size:12px;color:var(--faint)}
.legend i{width:16px;height:12px;border-radius:2px}
@page{size:landscape}
@media print{*{print-color-adjust:exact;-webkit-print-color-adjust:exact}.card{break-inside:avoid}
.wide{overflow:visible}table{font-size:9px}th,td{padding:3px 4px}}
)";

struct Shade {
  const char* rgb;
};

// From orange to blue, which people who cannot distinguish red and green can read.
constexpr Shade k_shades[] = {{"#f28e2b"},
                              {"#f4a04d"},
                              {"#f6b26e"},
                              {"#f8c48f"},
                              {"#f9d5b0"},
                              {"#e7e3da"},
                              {"#d3e3ee"},
                              {"#b9d6ea"},
                              {"#9fc9e6"},
                              {"#86bce2"}};

std::string page_style() {
  std::string rules = k_style;
  for (std::size_t i = 0; i < std::size(k_shades); ++i)
    rules += fmt::format(".s{0}{{fill:{1};background:{1}}}", i, k_shades[i].rgb);
  return rules + "\n";
}

std::string page_list(const std::string& title, const std::vector<std::string>& items) {
  if (items.empty()) return {};
  std::string html = fmt::format("<section class=\"card\"><h2>{}</h2><ul>\n", title);
  for (const std::string& item : items) html += "<li>" + escaped(item) + "</li>\n";
  return html + "</ul></section>\n";
}

std::string page_head(const CheckReport& report) {
  std::string facts = escaped(report.cluster.empty() ? "" : "cluster " + report.cluster + ", ");
  facts += escaped(report.facts.began);
  if (report.facts.seconds > 0) facts += fmt::format(", {:.0f} s", report.facts.seconds);
  if (report.facts.quick) facts += ", quick";
  if (!report.baseline.empty())
    facts += ", compared with the baseline of " + escaped(report.baseline);
  return fmt::format(
      "<span class=\"badge {0}\">{1}</span>\n<h1>{2}</h1>\n<p class=\"faint\">{3}</p>\n",
      report.verdict.fit ? "fit" : "unfit",
      report.verdict.fit ? "fit" : "unfit",
      escaped(headline(report)),
      facts);
}

// A value, and below it the comparison with others.
std::string page_cell(const check::Measured& measured, const check::Judged& judged) {
  const std::string text = check::quantity(measured.value, measured.unit);
  const std::size_t space = text.find(' ');  // before the unit, which would make the column wide
  std::string below;
  if (space != std::string::npos)
    below = fmt::format("<small>{}</small>", escaped(text.substr(space + 1)));
  const auto reference = judged.peers ? judged.peers : judged.baseline;
  if (reference && *reference > 0 && measured.key != "clock_offset" && !measured.unit.empty())
    below += fmt::format("<small>{:.0f} %</small>", measured.value / *reference * 100);
  return fmt::format("<td{}>{}{}{}</td>",
                     judged.fit ? "" : " class=\"bad\"",
                     escaped(text.substr(0, space)),
                     judged.fit ? "" : " !",
                     below);
}

std::vector<std::pair<std::string, std::string>> headings(const check::Facts& facts) {
  std::vector<std::pair<std::string, std::string>> all;  // identity and heading
  for (const check::Node& node : facts.nodes)
    for (const check::Measured& measured : node.measures) {
      const std::string id = check::identity(measured);
      if (std::none_of(all.begin(), all.end(), [&](const auto& one) { return one.first == id; }))
        all.emplace_back(id, check::heading(measured));
    }
  return all;
}

std::string page_row(const check::Node& node,
                     const check::NodeVerdict& verdict,
                     const std::vector<std::pair<std::string, std::string>>& columns,
                     bool shows_others) {
  std::string html = fmt::format("<tr><td>{}</td><td{}>{}</td>",
                                 escaped(node.name),
                                 verdict.fit ? "" : " class=\"bad\"",
                                 verdict.fit ? "fit" : "unfit");
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < verdict.measures.size(); ++i)
    places.emplace(verdict.measures[i].measure, i);
  for (const auto& [id, heading] : columns) {
    const auto place = places.find(id);
    html += place == places.end()
                ? "<td class=\"faint\">-</td>"
                : page_cell(node.measures[place->second], verdict.measures[place->second]);
  }
  if (shows_others)
    html += fmt::format("<td>{}</td>", verdict.others ? check::percent(*verdict.others) : "-");
  return html +
         fmt::format("<td{}>{}{}</td></tr>\n",
                     verdict.steps_fit ? "" : " class=\"bad\"",
                     node.steps.digest.empty() ? "-" : escaped(node.steps.digest.substr(0, 8)),
                     verdict.steps_fit ? "" : " !");
}

std::string page_nodes(const CheckReport& report) {
  const auto columns = headings(report.facts);
  std::string html =
      "<section class=\"card\"><h2>Nodes</h2><div "
      "class=\"wide\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"Nodes\"><table>\n<tr><th>node</th><th>verdict</th>";
  for (const auto& [id, heading] : columns) html += "<th>" + escaped(heading) + "</th>";
  const bool shows_others = has_busy_node(report.verdict);
  html += fmt::format("{}<th>step</th></tr>\n", shows_others ? "<th>others</th>" : "");
  for (std::size_t i = 0; i < report.facts.nodes.size(); ++i)
    html += page_row(report.facts.nodes[i], report.verdict.nodes[i], columns, shows_others);
  return html +
         "</table></div><p class=\"faint\">Below each value are its unit and its percentage of the "
         "peers' median. <b>step</b>: digest of the training step that every node repeats." +
         (shows_others ? " <b>others</b>: processor time of other programs." : "") +
         "</p></section>\n";
}

std::string map_card(const CheckReport& report, LinkSpeed which) {
  const svg::Drawing map = link_map(report, which);
  if (map.height == 0) return {};
  const bool is_latency = which == LinkSpeed::latency;
  const LinkSpeeds speeds(report.facts, which);
  const std::string title = is_latency ? "Latency between nodes" : "Bandwidth between nodes";
  std::string legend = "<div class=\"legend\">slow&nbsp;";
  for (std::size_t i = 0; i < std::size(k_shades); ++i)
    legend += fmt::format("<i class=\"s{}\"></i>", i);
  legend += fmt::format("&nbsp;median ({})</div>",
                        escaped(check::quantity(speeds.median(), is_latency ? "s" : "B/s")));
  return fmt::format("<section class=\"card\"><h2>{}</h2>{}{}</section>\n",
                     title,
                     svg::in_page(map, title),
                     legend);
}

std::string page_collectives(const CheckReport& report) {
  std::vector<std::string> operations;
  for (const check::Collective& one : report.facts.collectives)
    if (std::find(operations.begin(), operations.end(), one.operation) == operations.end())
      operations.push_back(one.operation);
  std::string html;
  for (const std::string& operation : operations)
    html += fmt::format("<section class=\"card\"><h2>{}, bus bandwidth</h2>{}</section>\n",
                        escaped(operation),
                        svg::in_page(collective_bars(report, operation), operation));
  return html.empty() ? html : "<div class=\"maps\">\n" + html + "</div>\n";
}

}  // namespace

std::string to_html(const CheckReport& report) {
  const std::string maps =
      map_card(report, LinkSpeed::bandwidth) + map_card(report, LinkSpeed::latency);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}</style></head>\n<body><main>\n{2}{3}{4}{5}{6}{7}"
      "</main></body></html>\n",
      escaped(headline(report)),
      page_style(),
      page_head(report),
      page_list("Faults", check::faults(report.facts, report.verdict)),
      maps.empty() ? "" : "<div class=\"maps\">\n" + maps + "</div>\n",
      page_nodes(report),
      page_collectives(report),
      page_list("Notes", report.verdict.notes));
}

}  // namespace dts::cli
