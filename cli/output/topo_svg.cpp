// SPDX-License-Identifier: Apache-2.0
// A node and its ranks as an SVG picture.
#include "cli/output/rank_colours.hpp"
#include "cli/output/topo_report.hpp"
#include "cli/output/topo_svg_node.hpp"
#include "cli/output/wrapped.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::cli {
namespace {

using svg::Drawing;
using Cells = std::vector<std::string>;

constexpr int k_widest_picture = 1600;
constexpr int k_margin = 20;
constexpr int k_least = 760;  // width of the tables; sentences are wrapped to it
constexpr std::size_t k_most_picture_rows = 64;
constexpr std::size_t k_most_characters = 36;  // of a list in one table line

std::string style_sheet() {
  std::string rules =
      "text{font-family:ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#1a1a1a}\n"
      ".mid{text-anchor:middle}.head,.name{font-weight:bold}text.small{fill:#5c6670}\n"
      ".page{fill:#fff}.package{fill:#eef1f4;stroke:#8a94a0}.numa{fill:#fff;stroke:#8a94a0}\n"
      ".l3{fill:none;stroke:#8a94a0;stroke-dasharray:3 2}.idle{fill:none;stroke:#8a94a0}\n"
      ".closed{fill:#d5d8dc;stroke:#b5bcc4}.all{fill:#fff;stroke:#333;stroke-width:2}text.on-dark{"
      "fill:#fff}text.on-light{fill:#000}\n";
  for (unsigned i = 0; i < k_rank_colours.size(); ++i)
    rules +=
        fmt::format(".{0}{{fill:{2};stroke:#333}}.{1}{{fill:{2};fill-opacity:.25;stroke:{2}}}\n",
                    home_kind(i),
                    annex_kind(i),
                    k_rank_colours[i].rgb);
  return rules +
         "@media (prefers-color-scheme:dark){text{fill:#e6e6e6}text.small{fill:#a0a8b0}"
         ".page,.numa{fill:#16191d}.package{fill:#262b31}.closed{fill:#3a4047;stroke:#59616a}.all{"
         "fill:#16191d;stroke:#e6e6e6}}\n";
}

// The first row is the heading. Numeric columns are not right-aligned, as there are few.
Drawing table(const std::vector<Cells>& rows) {
  Drawing all;
  int x = 0;
  for (std::size_t column = 0; column < rows.front().size(); ++column) {
    std::vector<Drawing> lines;
    for (std::size_t i = 0; i < rows.size(); ++i)
      lines.push_back(svg::line(rows[i][column], 12, i == 0 ? "head" : "plain"));
    const Drawing drawing = svg::below(lines, 2);
    all.place(drawing, x, 0);
    x += drawing.width + 16;
  }
  return all;
}

// Adds as many rows as the longest list has lines.
void add_row(std::vector<Cells>& rows, const RankRow& rank) {
  std::vector<Cells> columns{{""}};
  for (const std::string* list : {&rank.home, &rank.annex, &rank.gpus, &rank.nic})
    columns.push_back(wrapped_list(*list, k_most_characters));
  columns.push_back({rank.distance});
  columns.push_back(wrapped_list(rank.path, k_most_characters));
  std::size_t height = 1;
  for (const Cells& column : columns) height = std::max(height, column.size());
  for (std::size_t line = 0; line < height; ++line) {
    Cells& row = rows.emplace_back();
    for (const Cells& column : columns) row.push_back(line < column.size() ? column[line] : "");
  }
}

Drawing ranks_table(const TopoReport& report) {
  std::vector<Cells> rows{{"", "home CPUs", "annex CPUs", "GPU", "NIC", "distance", "path"}};
  const std::vector<RankRow> all = rank_rows(report);
  const std::size_t shown = std::min(all.size(), k_most_picture_rows);
  Drawing drawing;
  for (unsigned rank = 0; rank < shown; ++rank) {
    const Paint paint = paint_of({{rank}});
    drawing.place(cell(44, 18, paint.kind, paint.ink, all[rank].rank, "", "rank " + all[rank].rank),
                  0,
                  20 * static_cast<int>(rows.size()));
    add_row(rows, all[rank]);
  }
  drawing.place(table(rows), 48, 0);
  if (shown == all.size()) return drawing;
  const auto more = fmt::format("and {} more ranks: see --json", all.size() - shown);
  return svg::below({drawing, svg::line(more, 12, "small")}, 2);
}

Drawing scores_drawing(const TopoReport& report) {
  std::vector<PolicyScore> scores = report.policies;
  scores.push_back({"bound", report.binding.bound});
  std::vector<Cells> rows{{"score"}};
  for (const PolicyScore& one : scores)
    rows.front().push_back(one.policy == report.policy ? "*" + one.policy : one.policy);
  for (const Metric& metric : metrics()) {
    if (!is_telling(metric, scores)) continue;
    rows.push_back({metric.words});
    for (const PolicyScore& one : scores) rows.back().push_back(in_words(metric, one.score));
  }
  return table(rows);
}

Drawing legend() {
  struct {
    Use use;
    const char* mark;
    const char* words;
  } const entries[] = {{{{0}}, "0", "home of rank 0"},
                       {{{0}, true}, "(0)", "its annex"},
                       {{{0, 1}}, "0+", "shared by several"},
                       {{{0, 1}, false, false, true}, "*", "shared by all"},
                       {{}, ".", "unused"},
                       {{{}, false, true}, "x", "not allowed"}};

  Drawing all;
  for (const auto& entry : entries) {
    const Paint paint = paint_of(entry.use);
    const int x = all.width == 0 ? 0 : all.width + 16;
    all.place(cell(30, 18, paint.kind, paint.ink, entry.mark, "", ""), x, 0);
    all.place(svg::line(entry.words, 12, "small"), x + 36, 0);
  }
  all.place(svg::line("small: first CPU, PCI address; dashed: an L3; round: a NIC", 12, "small"),
            all.width + 16,
            0);
  return all;
}

Drawing sentences(const TopoReport& report, int width) {
  const auto columns = static_cast<std::size_t>(width * 100 / (12 * 62));
  std::vector<Drawing> lines;
  const auto add = [&](const std::string& head, const std::vector<std::string>& all) {
    for (const std::string& sentence : all)
      for (const std::string& words : wrapped(head + sentence, columns))
        lines.push_back(svg::line(words, 12, "plain"));
  };
  add("", report.binding.reasons);
  add("Warning: ", report.binding.warnings);
  return svg::below(lines, 2);
}

Drawing page_of(const TopoReport& report) {
  const Scene scene = make_scene(report.node, report.gpus, report.binding);
  const Drawing node = draw_node(scene, k_widest_picture - 2 * k_margin);
  const Drawing ranks = ranks_table(report), scores = scores_drawing(report);
  // The tables go side by side if there is room.
  const bool wide = ranks.width + 3 * k_margin + scores.width <= k_widest_picture;
  Drawing tables = ranks;
  if (wide)
    tables.place(scores, ranks.width + k_margin, 0);
  else
    tables = svg::below({ranks, scores}, k_margin);
  const int width = std::max({node.width, tables.width, k_least});
  std::vector<Drawing> parts;
  for (const std::string& words : {summary(report), request_in_words(report)})
    for (const std::string& line :
         wrapped(words, static_cast<std::size_t>(width * 100 / (14 * 62))))
      parts.push_back(svg::line(line, 14, "head"));
  const Drawing head = svg::below(parts, 0);
  return svg::below({head, node, legend(), tables, sentences(report, width)}, k_margin - 6);
}

}  // namespace

std::string to_svg(const std::vector<TopoReport>& reports) {
  std::vector<Drawing> pages;
  for (const TopoReport& report : reports) pages.push_back(page_of(report));
  Drawing page;
  page.place(svg::below(pages, 2 * k_margin), k_margin, k_margin);
  page.width += k_margin;
  page.height += k_margin;
  return svg::document(page, summary(reports.front()), style_sheet());
}

std::string to_svg(const TopoReport& report) {
  return to_svg(std::vector{report});
}

}  // namespace dts::cli
