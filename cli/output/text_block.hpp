// SPDX-License-Identifier: Apache-2.0
// Rectangles of characters for the terminal, arranged in rows, columns and frames. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dts::cli {

struct Style {
  enum class Tone { plain, bold, faint, home, annex };

  Tone tone = Tone::plain;
  unsigned rank = 0;  // determines the colour of the tones home and annex

  bool operator==(const Style&) const = default;
};

// One terminal column wide.
struct Cell {
  char32_t glyph = U' ';
  Style style{};
};

using Line = std::vector<Cell>;

// Lines may differ in length: missing cells are blank.
struct Block {
  std::vector<Line> lines;

  [[nodiscard]] std::size_t width() const;

  [[nodiscard]] std::size_t height() const { return lines.size(); }
};

// One line. Anything but printable ASCII becomes `?`, because names may come from other people's
// files.
[[nodiscard]] Block text(std::string_view words, Style style = {});

// One line of these glyphs.
[[nodiscard]] Block glyphs(std::u32string_view line, Style style = {});

// Puts `right` to the right of `left`, `gap` columns from its longest line.
[[nodiscard]] Block beside(Block left, const Block& right, std::size_t gap = 0);
[[nodiscard]] Block below(Block upper, const Block& lower);

// Arranges blocks in rows of `columns`, all as wide as the widest. `columns` >= 1.
[[nodiscard]] Block grid(const std::vector<Block>& blocks, std::size_t columns, std::size_t gap);

// Draws a box of at least `width` and `height` inside, with a title in its upper edge.
[[nodiscard]] Block framed(const Block& inside,
                           std::string_view title,
                           std::size_t width = 0,
                           std::size_t height = 0);

// The number of columns, at most `most`, that arranges `count` items in even rows.
[[nodiscard]] std::size_t even_columns(std::size_t count, std::size_t most);

struct TextOptions {
  bool colour = false;  // ISO 6429 sequences with xterm's 256 colours
  bool utf8 = true;     // otherwise ASCII, with `+`, `-` and `|` for frames
};

// Lines that end in a newline, without trailing blanks.
[[nodiscard]] std::string print(const Block& block, const TextOptions& look);

}  // namespace dts::cli
