// SPDX-License-Identifier: Apache-2.0
// Drawings of rectangles and text, arranged in rows and columns, as SVG. Pure, and without floating
// point, so that a drawing gives the same bytes on every machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dts::cli::svg {

inline constexpr int k_padding = 6;  // between a frame and its contents

// Lengths are in CSS pixels.
struct Rectangle {
  int x = 0, y = 0, width = 0, height = 0;
  std::string kind;     // its CSS class
  std::string tooltip;  // empty: none
  int radius = 3;       // of the corners
};

struct Words {
  int x = 0, y = 0;  // left end (or middle, if centred) of the baseline
  int size = 12;     // font size
  bool centred = false;
  std::string kind;
  std::string words;  // UTF-8
};

struct Drawing {
  int width = 0, height = 0;
  std::vector<Rectangle> rectangles;
  std::vector<Words> words;

  // Copies `other` into this drawing with its corner at (x, y), and grows to fit.
  void place(const Drawing& other, int x, int y);
};

// Upper bound of the width of `words` in the style sheet's fixed-width fonts: 0.62 of the size per
// character.
[[nodiscard]] int width_of(std::string_view words, int size);

// One line of text, as high as the font needs.
[[nodiscard]] Drawing line(std::string words, int size, const std::string& kind);

[[nodiscard]] Drawing below(const std::vector<Drawing>& parts, int gap);
[[nodiscard]] Drawing grid(const std::vector<Drawing>& parts, std::size_t columns, int gap);

// Puts a drawing into a rectangle of this kind with a title inside its upper edge; at least as
// large as requested.
[[nodiscard]] Drawing framed(const Drawing& inside,
                             const std::string& title,
                             const std::string& kind,
                             const std::string& tooltip = {},
                             int width = 0,
                             int height = 0);

// A complete file. `rules`: its style sheet.
[[nodiscard]] std::string document(const Drawing& drawing,
                                   const std::string& title,
                                   const std::string& rules);

// The same, as an element of an HTML page whose style sheet contains the rules.
[[nodiscard]] std::string in_page(const Drawing& drawing, const std::string& title);

// Text of an XML or HTML document (XML 1.0, 2.4); control characters, which are not allowed at all,
// become `?`.
[[nodiscard]] std::string escaped(std::string_view words);

}  // namespace dts::cli::svg
