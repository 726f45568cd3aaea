// SPDX-License-Identifier: Apache-2.0
// Every pair once, in as few rounds as possible: a round-robin tournament by the circle method (T.
// P. Kirkman, "On a problem in combinations", 1847). Pure.
#pragma once

namespace dts::train::bench {

// players - 1 rounds, one more if the number of players is odd; 0 for fewer than two.
[[nodiscard]] constexpr int tournament_rounds(int players) {
  return players < 2 ? 0 : players - 1 + players % 2;
}

// The opponent of `player` in `round`; -1 if there is none, because the number of players is odd.
[[nodiscard]] constexpr int opponent(int players, int round, int player) {
  const int circle = tournament_rounds(players);  // if even, the last player stays in the middle
  const int middle = players % 2 == 0 ? players - 1 : -1;
  if (player == middle) return round % 2 == 0 ? round / 2 : (round + circle) / 2;
  const int other = (round - player + circle) % circle;
  return other == player ? middle : other;
}

}  // namespace dts::train::bench
