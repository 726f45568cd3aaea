// SPDX-License-Identifier: Apache-2.0
// The statements of a script by their use: before, between and after its programs. Pure.
#pragma once

#include "core/convert/convert.hpp"
#include "core/convert/job/draft.hpp"
#include "core/convert/lines/item.hpp"
#include "core/convert/lines/nodes.hpp"
#include "core/convert/lines/rendezvous.hpp"
#include "core/convert/lines/verdict.hpp"
#include "core/convert/program/program.hpp"

#include <vector>

namespace dts::convert {

enum class Role {
  around,  // set-up before a program, tear-down behind the last
  program,
  definition,  // of a function that starts a program
};

struct Part {
  Item item;
  Role role = Role::around;
  RowIndex row = k_no_row;
  Verdict verdict{};
  bool is_kept = false;
  bool stops = false;  // the script ends if it fails: set -e
};

[[nodiscard]] std::vector<Part> parts_of(const lint::Subject& subject);

// True for a program that a launcher starts.
[[nodiscard]] bool is_started_on_all(const Part& part);

// The definitions of functions that the item may call, itself or through each other, in the
// script's order.
[[nodiscard]] std::vector<const Part*> called_definitions(const std::vector<Part>& parts,
                                                          const Item& item);

// The account's note on a line of the set-up or tear-down.
[[nodiscard]] std::string note_on_kept(const Part& part,
                                       bool has_many_nodes,
                                       const Rendezvous& rendezvous,
                                       bool is_tear_down);

// The set-up of the parts from `begin` to `end`, as bash text; adds their names to `kept`.
struct SetUpText {
  std::string text;
  SetNames sets;
};

[[nodiscard]] SetUpText set_up_of(const std::vector<Part>& parts,
                                  std::size_t begin,
                                  std::size_t end,
                                  bool has_many_nodes,
                                  const Rendezvous& rendezvous,
                                  bool is_tear_down);

}  // namespace dts::convert
