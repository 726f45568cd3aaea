// SPDX-License-Identifier: Apache-2.0
#include "cli/output/text_block.hpp"

#include "cli/output/rank_colours.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::cli {
namespace {

void pad(Line& line, std::size_t width) {
  if (line.size() < width) line.resize(width);
}

std::string escape(const Style& style) {
  switch (style.tone) {
    case Style::Tone::plain:
      return "\033[0m";
    case Style::Tone::bold:
      return "\033[0;1m";
    case Style::Tone::faint:
      return "\033[0;2m";
    case Style::Tone::home: {
      const RankColour& colour = colour_of(style.rank);
      return fmt::format("\033[0;48;5;{};38;5;{}m", colour.xterm_home, colour.dark ? 231 : 16);
    }
    case Style::Tone::annex:
      return fmt::format("\033[0;38;5;{}m", colour_of(style.rank).xterm_annex);
  }
  return {};
}

// ASCII replacement for other glyphs.
char plain_glyph(char32_t glyph) {
  switch (glyph) {
    case U'─':
      return '-';
    case U'│':
      return '|';
    case U'·':
      return '.';
    case U'×':
      return 'x';
    default:
      return glyph < 0x80 ? static_cast<char>(glyph) : '+';
  }
}

// RFC 3629; our glyphs are all below U+10000.
void append_utf8(std::string& to, char32_t glyph) {
  const auto byte = [](char32_t value) { return static_cast<char>(value); };
  if (glyph < 0x80) {
    to += byte(glyph);
  } else if (glyph < 0x800) {
    to += byte(0xC0 | (glyph >> 6));
    to += byte(0x80 | (glyph & 0x3F));
  } else {
    to += byte(0xE0 | (glyph >> 12));
    to += byte(0x80 | ((glyph >> 6) & 0x3F));
    to += byte(0x80 | (glyph & 0x3F));
  }
}

std::size_t length_without_blanks(const Line& line) {
  std::size_t length = line.size();
  while (length > 0 && line[length - 1].glyph == U' ' &&
         line[length - 1].style.tone != Style::Tone::home)
    --length;
  return length;
}

}  // namespace

std::size_t Block::width() const {
  std::size_t most = 0;
  for (const Line& line : lines) most = std::max(most, line.size());
  return most;
}

Block text(std::string_view words, Style style) {
  Line line;
  for (const char c : words)
    line.push_back({c >= ' ' && c <= '~' ? static_cast<char32_t>(c) : U'?', style});
  return {{std::move(line)}};
}

Block glyphs(std::u32string_view all, Style style) {
  Line line;
  for (const char32_t glyph : all) line.push_back({glyph, style});
  return {{std::move(line)}};
}

Block beside(Block left, const Block& right, std::size_t gap) {
  const std::size_t width = left.lines.empty() ? 0 : left.width() + gap;
  left.lines.resize(std::max(left.height(), right.height()));
  for (std::size_t i = 0; i < right.height(); ++i) {
    pad(left.lines[i], width);
    left.lines[i].insert(left.lines[i].end(), right.lines[i].begin(), right.lines[i].end());
  }
  return left;
}

Block below(Block upper, const Block& lower) {
  upper.lines.insert(upper.lines.end(), lower.lines.begin(), lower.lines.end());
  return upper;
}

Block grid(const std::vector<Block>& blocks, std::size_t columns, std::size_t gap) {
  std::size_t width = 0;
  for (const Block& block : blocks) width = std::max(width, block.width());
  Block all;
  for (std::size_t first = 0; first < blocks.size(); first += columns) {
    Block row;
    for (std::size_t i = first; i < std::min(first + columns, blocks.size()); ++i) {
      Block padded = blocks[i];
      for (Line& line : padded.lines) pad(line, width);
      row = beside(std::move(row), padded, gap);
    }
    all = below(std::move(all), row);
  }
  return all;
}

Block framed(const Block& inside, std::string_view title, std::size_t width, std::size_t height) {
  const std::size_t across = std::max({width, inside.width(), title.size() + 2});
  Block box = glyphs(U"┌");
  const auto edge = [&](std::size_t count) { return glyphs(std::u32string(count, U'─')); };
  if (title.empty()) {
    box = beside(std::move(box), edge(across));
  } else {
    box = beside(std::move(box), text(fmt::format(" {} ", title), {Style::Tone::bold}));
    box = beside(std::move(box), edge(across - title.size() - 2));
  }
  box = beside(std::move(box), glyphs(U"┐"));
  for (std::size_t i = 0; i < std::max(height, inside.height()); ++i) {
    Block line = glyphs(U"│");
    if (i < inside.height()) line = beside(std::move(line), Block{{inside.lines[i]}});
    pad(line.lines.front(), across + 1);
    box = below(std::move(box), beside(std::move(line), glyphs(U"│")));
  }
  return below(std::move(box), beside(beside(glyphs(U"└"), edge(across)), glyphs(U"┘")));
}

std::size_t even_columns(std::size_t count, std::size_t most) {
  if (count == 0 || most == 0) return 1;
  const std::size_t rows = (count + most - 1) / most;
  return (count + rows - 1) / rows;
}

std::string print(const Block& block, const TextOptions& look) {
  std::string out;
  for (const Line& line : block.lines) {
    Style style;
    const std::size_t length = length_without_blanks(line);
    for (std::size_t i = 0; i < length; ++i) {
      if (look.colour && !(line[i].style == style)) out += escape(line[i].style);
      style = line[i].style;
      if (look.utf8)
        append_utf8(out, line[i].glyph);
      else
        out += plain_glyph(line[i].glyph);
    }
    if (look.colour && !(style == Style{})) out += escape({});
    out += '\n';
  }
  return out;
}

}  // namespace dts::cli
