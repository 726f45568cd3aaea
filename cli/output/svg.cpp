// SPDX-License-Identifier: Apache-2.0
#include "cli/output/svg.hpp"

#include "core/base/text/html.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::cli::svg {
namespace {

constexpr int k_title_size = 12;
constexpr int k_title_height = 18;

std::string element(const Rectangle& r) {
  const std::string head =
      fmt::format(R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="{}")",
                  r.kind,
                  r.x,
                  r.y,
                  r.width,
                  r.height,
                  r.radius);
  if (r.tooltip.empty()) return head + "/>\n";
  return fmt::format("{}><title>{}</title></rect>\n", head, escaped(r.tooltip));
}

std::string element(const Words& w) {
  return fmt::format(R"(<text class="{}{}" x="{}" y="{}" font-size="{}">{}</text>)"
                     "\n",
                     w.kind,
                     w.centred ? " mid" : "",
                     w.x,
                     w.y,
                     w.size,
                     escaped(w.words));
}

std::string elements(const Drawing& drawing) {
  std::string out;
  for (const Rectangle& rectangle : drawing.rectangles) out += element(rectangle);
  for (const Words& words : drawing.words)
    if (!words.words.empty()) out += element(words);
  return out;
}

}  // namespace

std::string escaped(std::string_view words) {
  std::string out;
  for (const char c : words)
    append_html(out, static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c);
  return out;
}

void Drawing::place(const Drawing& other, int x, int y) {
  for (Rectangle r : other.rectangles) {
    r.x += x;
    r.y += y;
    rectangles.push_back(std::move(r));
  }
  for (Words w : other.words) {
    w.x += x;
    w.y += y;
    words.push_back(std::move(w));
  }
  width = std::max(width, x + other.width);
  height = std::max(height, y + other.height);
}

int width_of(std::string_view words, int size) {
  const auto characters = std::count_if(words.begin(), words.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;  // not inside a UTF-8 sequence
  });
  return (static_cast<int>(characters) * size * 62 + 99) / 100;
}

Drawing line(std::string words, int size, const std::string& kind) {
  Drawing drawing{width_of(words, size), size + size / 2, {}, {}};
  drawing.words.push_back({0, size + size / 8, size, false, kind, std::move(words)});
  return drawing;
}

Drawing below(const std::vector<Drawing>& parts, int gap) {
  Drawing all;
  for (const Drawing& part : parts)
    if (part.height > 0) all.place(part, 0, all.height == 0 ? 0 : all.height + gap);
  return all;
}

Drawing grid(const std::vector<Drawing>& parts, std::size_t columns, int gap) {
  int width = 0;
  for (const Drawing& part : parts) width = std::max(width, part.width);
  Drawing all;
  int y = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0 && i % columns == 0) y = all.height + gap;
    all.place(parts[i], static_cast<int>(i % columns) * (width + gap), y);
  }
  return all;
}

Drawing framed(const Drawing& inside,
               const std::string& title,
               const std::string& kind,
               const std::string& tooltip,
               int width,
               int height) {
  const int head = title.empty() ? 0 : k_title_height;
  Drawing box;
  box.width = std::max({width,
                        inside.width + 2 * k_padding,
                        title.empty() ? 0 : width_of(title, k_title_size) + 2 * k_padding});
  box.height = std::max(height, head + inside.height + 2 * k_padding);
  box.rectangles.push_back({0, 0, box.width, box.height, kind, tooltip});
  if (!title.empty())
    box.words.push_back({k_padding, k_title_height - 2, k_title_size, false, "name", title});
  box.place(inside, k_padding, k_padding + head);
  return box;
}

std::string document(const Drawing& drawing, const std::string& title, const std::string& rules) {
  std::string out = fmt::format(
      R"(<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img">
<title>{2}</title>
<style>
{3}</style>
<rect class="page" width="{0}" height="{1}"/>
)",
      drawing.width,
      drawing.height,
      escaped(title),
      rules);
  return out + elements(drawing) + "</svg>\n";
}

std::string in_page(const Drawing& drawing, const std::string& title) {
  return fmt::format(
      R"(<svg width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img" aria-label="{2}">
{3}</svg>
)",
      drawing.width,
      drawing.height,
      escaped(title),
      elements(drawing));
}

}  // namespace dts::cli::svg
