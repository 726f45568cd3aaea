// SPDX-License-Identifier: Apache-2.0
#include "core/convert/roles/made_names.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/words/once.hpp"

#include <algorithm>
#include <functional>

namespace dts::convert {
namespace {

// It computes one of these anew: "mktemp", "$$".
bool computes(const Item& item, const Names& what) {
  const std::vector<std::string> anew = computed_anew(item.source);
  return meets(Names(anew.begin(), anew.end()), what);
}

// The variables that lines set which make something, directly or as parts of paths and lists.
Names names_made_by(const std::vector<Part>& parts, const std::function<bool(const Item&)>& makes) {
  Names names;
  for (const Part& part : parts) {
    if (part.role != Role::around || !part.is_kept) continue;
    if (!makes(part.item) && !(part.item.only_sets() && meets(part.item.used, names))) continue;
    for (const auto* all : {&part.item.sets.variables, &part.item.sets.arrays})
      names.insert(all->begin(), all->end());
  }
  return names;
}

// Of `names`, those that every program gets by its environment.
Names exported_of(const std::vector<Part>& parts, const Names& names) {
  Names exported;
  for (const Part& part : parts)
    if (part.role == Role::around && part.is_kept)
      for (const std::string& name : part.item.sets.exported)
        if (names.count(name) > 0) exported.insert(name);
  return exported;
}

// Each program may have its own: TMPDIR, TRITON_CACHE_DIR.
bool is_scratch(const std::string& name) {
  return name == "TMPDIR" || name == "TMP" || name == "TEMP" ||
         name.find("CACHE") != std::string::npos;
}

// The set-up of each program runs mktemp again.
void lose_temporary_names(const std::vector<Part>& parts,
                          std::vector<Program>& programs,
                          const std::vector<std::size_t>& places) {
  const Names names =
      names_made_by(parts, [](const Item& item) { return computes(item, {"mktemp"}); });
  const Names exported = exported_of(parts, names);
  const bool is_for_all = !std::all_of(exported.begin(), exported.end(), is_scratch);
  std::vector<Program*> users;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (is_for_all || meets(parts[places[i]].item.used, names)) users.push_back(&programs[i]);
  if (users.size() < 2) return;
  for (Program* program : users)
    program->losses.emplace_back(
        "the set-up of each step runs mktemp again, so that steps do not find each other's files: "
        "write a name with $SLURM_JOB_ID in it");
}

// mktemp -d -p $SCRATCH, out/run_$$: in a folder that all nodes see, as far as its name says.
bool makes_shared_name(const Item& item) {
  if (!computes(item, {"mktemp", "$$"})) return false;
  const std::string source = in_lower_case(item.source);
  for (const std::string_view own : {"/tmp", "tmpdir", "{tmp", "$tmp", "/dev/shm", "local"})
    if (source.find(own) != std::string::npos && source.find("--tmpdir=") == std::string::npos)
      return false;
  bool is_shared = source.find("$$") != std::string::npos;
  each_command(*item.statement, [&is_shared](const shell::Command& one) {
    const auto names_place = [](const shell::Word& word) {
      const std::string text = literal_of(word);
      return !text.starts_with('-') || text == "-p" || text.starts_with("--tmpdir=");
    };
    is_shared = is_shared || (first_word(one) == "mktemp" &&
                              std::any_of(one.words.begin() + 1, one.words.end(), names_place));
  });
  return is_shared;
}

// Each node runs the set-up, where the script's shell made one name for all of them.
void lose_names_of_nodes(const std::vector<Part>& parts,
                         std::vector<Program>& programs,
                         const std::vector<std::size_t>& places) {
  const Names names = names_made_by(parts, &makes_shared_name);
  const Names exported = exported_of(parts, names);
  const bool is_for_all = !std::all_of(exported.begin(), exported.end(), is_scratch);
  for (std::size_t i = 0; i < places.size(); ++i)
    if (number_in(programs[i].settings, "nodes") != 1 &&
        (is_for_all || meets(parts[places[i]].item.used, names)))
      programs[i].losses.emplace_back(
          "the set-up of each node makes a name of its own with mktemp or $$, so that nodes do not "
          "find each other's files: write a name with $SLURM_JOB_ID in it");
}

}  // namespace

void lose_made_names(const std::vector<Part>& parts,
                     std::vector<Program>& programs,
                     const std::vector<std::size_t>& places,
                     bool has_many_nodes) {
  lose_temporary_names(parts, programs, places);
  if (has_many_nodes) lose_names_of_nodes(parts, programs, places);
}

void lose_values_of_roles(const std::vector<Part>& parts, std::vector<Program>& programs) {
  const Names names = names_made_by(parts, [](const Item& item) {
    return computes(item, {"mktemp", "netstat", "openssl", "shuf", "ss"});
  });
  const Names exported = exported_of(parts, names);
  for (const std::string& name : names) {
    const bool is_for_all = exported.count(name) > 0 && !is_scratch(name);
    std::vector<Program*> users;
    for (Program& program : programs)
      if (is_for_all || used_names(program.source()).count(name) > 0) users.push_back(&program);
    if (users.size() < 2) continue;
    users.back()->losses.push_back(
        "the set-up of each role computes " + name +
        " for itself, and theirs differ: write a fixed value, or, for a port of a role, "
        "DTSUBMIT_ROLE_NAME_PORT");
  }
}

}  // namespace dts::convert
