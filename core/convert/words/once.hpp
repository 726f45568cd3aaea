// SPDX-License-Identifier: Apache-2.0
// What a script computes once, for a text that each node or each rank runs for itself. Pure.
#pragma once

#include "core/convert/words/names.hpp"
#include "core/shell/syntax.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace dts::convert {

// Lines before the text with which `date`, RANDOM, `uuidgen` and the numbers of `shuf -i` are the
// same wherever it is run, and in each attempt: of the time at which the run began. Empty: it uses
// none of them, or measures time.
[[nodiscard]] std::string same_for_all(std::string_view text);

// That, for people.
inline constexpr const char* k_same_for_all =
    "date, RANDOM, uuidgen and shuf -i: set when the run begins, the same in all ranks and "
    "attempts";

// True if a loop in it looks at the time again and again: while true; do date; sleep 9; done.
[[nodiscard]] bool watches_time(const shell::Statement& statement);

// What else each node or rank computes for itself, to be named: "mktemp", "$$".
[[nodiscard]] std::vector<std::string> computed_anew(std::string_view text);

// Variables of the environment that hold the name of the node.
inline constexpr std::string_view k_names_of_node[] = {"HOSTNAME", "SLURMD_NODENAME"};

// What an expansion gives of the node on which the shell runs.
enum class OwnPlace {
  none,
  name,     // $HOSTNAME, ${HOSTNAME%%.*}, $(hostname -f)
  address,  // $(hostname -i), $(hostname -I | awk '{print $1}')
};

[[nodiscard]] OwnPlace own_place(const shell::Piece& piece);

// An expansion that gives the address of `host`, a name, an address or an expansion.
[[nodiscard]] std::string address_of(const std::string& host);

// Variables that the text expands and that are others on each node or in each rank.
[[nodiscard]] Names variables_of_node(std::string_view text);

}  // namespace dts::convert
