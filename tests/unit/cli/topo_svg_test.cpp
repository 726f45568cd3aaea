// SPDX-License-Identifier: Apache-2.0
// The picture of a node as SVG, measured: boxes are in each other or apart, words are in their box.
#include "tests/support/sanitized.hpp"
#include "tests/unit/cli/topo_machines.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace {

using namespace dts;
using namespace dts::cli;
using namespace dts::tests;

struct Box {
  double left, top, right, bottom;
  std::string what;

  [[nodiscard]] bool holds(const Box& o) const {
    return left <= o.left && top <= o.top && right >= o.right && bottom >= o.bottom;
  }

  [[nodiscard]] bool meets(const Box& o) const {
    return left < o.right && o.left < right && top < o.bottom && o.top < bottom;
  }
};

double number(const std::string& element, const std::string& name) {
  const std::size_t at = element.find(" " + name + "=\"");
  return at == std::string::npos ? 0 : std::stod(element.substr(at + name.size() + 3));
}

// Every element of this kind, "<rect ..." or "<text ...", up to the end of its line.
std::vector<std::string> elements(const std::string& svg, const std::string& kind) {
  std::vector<std::string> found;
  for (std::size_t at = svg.find("<" + kind + " "); at != std::string::npos;
       at = svg.find("<" + kind + " ", at + 1))
    found.push_back(svg.substr(at, svg.find('\n', at) - at));
  return found;
}

std::vector<Box> rectangles(const std::string& svg) {
  std::vector<Box> boxes;
  for (const std::string& e : elements(svg, "rect"))
    boxes.push_back({number(e, "x"),
                     number(e, "y"),
                     number(e, "x") + number(e, "width"),
                     number(e, "y") + number(e, "height"),
                     e});
  return boxes;
}

// What a fixed-width font takes: 0.6 of its size for each character, 0.75 above the base line.
std::vector<Box> texts(const std::string& svg) {
  std::vector<Box> boxes;
  for (const std::string& e : elements(svg, "text")) {
    const std::size_t begin = e.find('>') + 1;
    bool entity = false;  // one character, as many letters as "&quot;" has
    std::size_t length = 0;
    for (std::size_t i = begin; i < e.rfind("</text>"); ++i) {
      entity = e[i] == '&' || (entity && e[i] != ';');
      length += entity ? 0 : 1;
    }
    const double size = number(e, "font-size"), width = 0.6 * size * double(length);
    const double left = number(e, "x") - (e.find(" mid\"") != std::string::npos ? width / 2 : 0);
    const double base = number(e, "y");
    boxes.push_back({left, base - 0.75 * size, left + width, base + 0.2 * size, e});
  }
  return boxes;
}

// The first two that overlap, or words that cross an edge; empty if all is well.
std::string first_fault(const std::string& svg) {
  const std::vector<Box> boxes = rectangles(svg), words = texts(svg);
  for (std::size_t i = 0; i < boxes.size(); ++i)
    for (std::size_t k = i + 1; k < boxes.size(); ++k)
      if (boxes[i].meets(boxes[k]) && !boxes[i].holds(boxes[k]))
        return boxes[i].what + " and " + boxes[k].what;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!boxes.front().holds(words[i])) return "outside: " + words[i].what;
    for (const Box& box : boxes)
      if (box.meets(words[i]) && !box.holds(words[i])) return box.what + " and " + words[i].what;
    for (std::size_t k = i + 1; k < words.size(); ++k)
      if (words[i].meets(words[k])) return words[i].what + " and " + words[k].what;
  }
  return {};
}

}  // namespace

TEST_CASE("the measure finds overlaps") {
  const std::string page = "<rect class=\"page\" width=\"99\" height=\"99\"/>\n";
  const std::string box = "<rect x=\"10\" y=\"10\" width=\"30\" height=\"20\"/>\n";
  const std::string word = "<text x=\"12\" y=\"25\" font-size=\"10\">abcd</text>\n";
  CHECK(first_fault(page + box + word).empty());
  CHECK_FALSE(
      first_fault(page + box + "<rect x=\"35\" y=\"10\" width=\"9\" height=\"9\"/>\n").empty());
  CHECK_FALSE(
      first_fault(page + box + "<text x=\"12\" y=\"25\" font-size=\"10\">abcdef</text>\n").empty());
  CHECK_FALSE(first_fault(page + word + word).empty());
  CHECK_FALSE(first_fault(page + "<text x=\"90\" y=\"25\" font-size=\"10\">abcd</text>\n").empty());
}

TEST_CASE("on every machine nothing overlaps, words are in their boxes, and it is not too wide") {
  double widest = 0, highest = 0;
  const unsigned checked = each_machine([&](const TopoReport& report) {
    const std::string svg = to_svg(report);
    const Box page = rectangles(svg).front();
    widest = std::max(widest, page.right);
    highest = std::max(highest, page.bottom);
    REQUIRE(page.right <= 1600);
    // The comparison of all boxes is the test's own, and takes minutes with sanitizers.
    if (!k_sanitized) REQUIRE(first_fault(svg).empty());
    REQUIRE(elements(svg, "rect").size() >=
            report.node.cores.size() + report.node.closed.size() + report.node.gpus.size());
  });
  MESSAGE(checked << " pictures, at most " << widest << " x " << highest);
  CHECK(checked >= 20);
}

TEST_CASE("the picture needs no other file and has tooltips") {
  TopoReport report = small_machine();
  report.machine = "<&\"\x01.xml";
  const std::string svg = to_svg(report);
  CHECK(svg == to_svg(report));
  CHECK(svg.rfind("<?xml", 0) == 0);
  CHECK(svg.find("&lt;&amp;&quot;?.xml") != std::string::npos);
  for (const char* foreign : {"<script", "href", "url(", "@import", "<image"})
    CHECK(svg.find(foreign) == std::string::npos);
  CHECK(svg.find("<title>core of CPUs 0,1: rank 0, home</title>") != std::string::npos);
  CHECK(svg.find("<title>core of CPUs 2,3: not allowed</title>") != std::string::npos);
  CHECK(svg.find("<title>GPU 2 at 0000:81:00.0: not in the job</title>") != std::string::npos);
  CHECK(svg.find("prefers-color-scheme:dark") != std::string::npos);
}
