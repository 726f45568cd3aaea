// SPDX-License-Identifier: Apache-2.0
// The statements of a script by their use: before, between and after its programs. Pure.
#pragma once

#include "core/convert/convert.hpp"
#include "core/convert/job/draft.hpp"
#include "core/convert/lines/bodies.hpp"
#include "core/convert/lines/errexit.hpp"
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
  std::string loss{};        // of a part of it, which stays; empty: none
  Failures failures{};       // what they do to the script at this place
  bool is_repeated = false;  // the set-up of each later step runs it again, with its effects
  // The place of the line that ends what it starts in the background: no set-up behind it runs it.
  std::size_t ended_at = static_cast<std::size_t>(-1);
};

[[nodiscard]] std::vector<Part> parts_of(const lint::Subject& subject);

[[nodiscard]] std::vector<Item> items_in(const std::vector<Part>& parts);

// The functions that the script defines.
[[nodiscard]] Names functions_in(const std::vector<Part>& parts);

// The place of the last program; parts.size() if there is none.
[[nodiscard]] std::size_t last_program(const std::vector<Part>& parts);

// True if one of `parts` changes the shell's folder.
[[nodiscard]] bool changes_folder(const std::vector<Part>& parts);

[[nodiscard]] Bodies bodies_of(const std::vector<Part>& parts);

// True if a launcher starts one of its programs.
[[nodiscard]] bool is_launched(const Item& item);

// True for a program that a launcher starts, or whose own options name several nodes: deepspeed
// --hostfile.
[[nodiscard]] bool is_started_on_all(const Part& part);

// The file to which the output of `item`, one of `parts`, goes and that a later one reads; empty:
// none.
[[nodiscard]] std::string output_read_later(const std::vector<Part>& parts, const Item& item);

// The definitions of functions that the item may call, itself or through each other, in the
// script's order.
[[nodiscard]] std::vector<const Part*> called_definitions(const std::vector<Part>& parts,
                                                          const Item& item);

// The account's note on a line of the set-up or tear-down.
[[nodiscard]] std::string note_on_kept(const Part& part,
                                       bool has_many_nodes,
                                       const Rendezvous& rendezvous,
                                       bool is_tear_down);

struct SetUpText {
  std::string patterns{};  // shopt -s extglob and the like, which each shell needs
  std::string text;
  SetNames sets;
  const Bodies* bodies = nullptr;  // of the script
  bool reads_settings = false;     // from a file, which may set any variable
  bool hands_on_code = false;      // of its last line, in SCRIPT_CODE
  Names of_files{};                // of a tear-down: calls that may be of files that were read
};

// Whose text it is. Lines before the first program are run by the first role, on its first node,
// and the others wait for them.
enum class SetUpOf { step, first_role, later_role, tear_down };

// The set-up of the parts from `begin` to `end`, as bash text. What removes or moves files is left
// out before `own`: another program has run since, whose results it would remove.
[[nodiscard]] SetUpText set_up_of(const std::vector<Part>& parts,
                                  std::size_t begin,
                                  std::size_t own,
                                  std::size_t end,
                                  bool has_many_nodes,
                                  const Rendezvous& rendezvous,
                                  SetUpOf user);

}  // namespace dts::convert
