// SPDX-License-Identifier: Apache-2.0
// Colours of ranks. They are the colours of Okabe and Ito (jfly.uni-koeln.de/color), which people
// with the common kinds of colour blindness can distinguish, ordered for maximum contrast between
// neighbours, plus the wine of Tol's muted scheme (personal.sron.nl/~pault), since eight ranks per
// node are common. There may be more ranks than colours, so the rank's number is always shown, too.
#pragma once

#include <array>

namespace dts::cli {

struct RankColour {
  const char* rgb;       // "#56b4e9"
  bool dark;             // text on it is white, otherwise black
  unsigned xterm_home;   // nearest of xterm's 256 colours
  unsigned xterm_annex;  // the same hue, legible as text on black and on white
};

inline constexpr std::array<RankColour, 8> k_rank_colours{{{"#56b4e9", false, 74, 31},
                                                           {"#e69f00", false, 214, 172},
                                                           {"#009e73", false, 36, 35},
                                                           {"#cc79a7", false, 175, 168},
                                                           {"#f0e442", false, 227, 142},
                                                           {"#0072b2", true, 25, 27},
                                                           {"#d55e00", false, 166, 166},
                                                           {"#882255", true, 89, 132}}};

[[nodiscard]] inline const RankColour& colour_of(unsigned rank) {
  return k_rank_colours[rank % k_rank_colours.size()];
}

}  // namespace dts::cli
