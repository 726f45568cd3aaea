// SPDX-License-Identifier: Apache-2.0
#include "core/convert/needed.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/codes.hpp"
#include "core/convert/lines/effects.hpp"
#include "core/convert/lines/left_launcher.hpp"
#include "core/convert/lines/tools.hpp"
#include "core/convert/options/limits.hpp"
#include "core/convert/own_shells.hpp"
#include "core/convert/roles/waiting.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

constexpr const char* k_step_would_wait =
    "a step of srun in the set-up would wait for the nodes that the job's own step has; `scontrol "
    "show hostnames` lists them without one";

// Nothing of what it sets is needed, so that it may be run on one node.
bool is_alone(const Item& item, const Names& needed, const Names& needed_by_program) {
  if (!item.sets.exported.empty() || !item.sets.limits.empty() || item.sets.changes_folder)
    return false;
  for (const auto* all : {&item.sets.variables, &item.sets.arrays, &item.sets.functions})
    for (const std::string& name : *all)
      if (needed.count(name) + needed_by_program.count(name) > 0) return false;
  return true;
}

bool is_in(const Names& made, const Names& needed) {
  return std::any_of(made.begin(), made.end(), [&needed](const std::string& name) {
    return needed.count(name) > 0 && !name.empty();
  });
}

// As words_of() finds it where a line names the file in another way: ./hosts, $PWD/hosts,
// ${PWD}/hosts.
void add_file(std::string name, Names& files) {
  if (name.starts_with("./")) name = name.substr(2);
  if (name.empty()) return;
  if (name[0] != '/')
    for (const char* folder : {"./", "PWD/", "SLURM_SUBMIT_DIR/", "/"}) files.insert(folder + name);
  files.insert(std::move(name));
}

// The files that it writes, and the variables in their names.
Names files_of(const Item& item) {
  Names files;
  each_command(*item.statement, [&](const shell::Command& command) {
    for (const shell::Redirection& one : command.redirections) {
      if (one.sign.find('>') == std::string::npos) continue;
      add_file(literal_of(one.target), files);
      for (const shell::Piece& piece : one.target.pieces)
        if (piece.kind == shell::Piece::Kind::parameter) files.insert(piece.text);
    }
  });
  return files;
}

// It sets a variable or function, or writes a file, of one of these names.
bool sets_one_of(const Item& item, const Names& needed) {
  const SetNames& sets = item.sets;
  return is_in(sets.variables, needed) || is_in(sets.arrays, needed) ||
         is_in(sets.functions, needed) || is_in(files_of(item), needed);
}

// Files that lines write which stay in any case: what another line adds is not only a list of
// hosts, but a part of a configuration.
Names files_that_stay(const std::vector<Part>& parts) {
  Names files;
  for (const Part& part : parts)
    if (part.role == Role::around && part.verdict.kind == Verdict::Kind::kept &&
        !part.item.runs.empty())
      files.merge(files_of(part.item));
  std::erase_if(files, [](const std::string& name) {
    return name.find("null") != std::string::npos || parse_number(name);
  });
  return files;
}

}  // namespace

void add_names(const std::string& text, Names& names) {
  names.merge(used_names(text));
  names.merge(words_of(text));
}

Names used_by(const std::string& text, const Bodies& bodies) {
  Names names;
  add_names(text, names);
  Names all;
  bodies.add_used(names, all);
  return all;
}

namespace {

void lose_submissions(std::vector<Part>& parts) {
  Names functions;
  for (const Part& part : parts)
    if (!part.item.sets.functions.empty() && submits(part.item))
      functions.insert(part.item.sets.functions.begin(), part.item.sets.functions.end());
  for (Part& part : parts) {
    const auto& runs = part.item.runs;
    if (part.role == Role::around && part.item.sets.functions.empty() &&
        std::any_of(runs.begin(), runs.end(), [&](const lint::Run* run) {
          return functions.count(run->name()) > 0;
        }))
      part.verdict = {Verdict::Kind::lost, k_submits};
  }
}

// Sets nothing else outside of itself than the master's address and port.
bool only_finds_master(const Item& item, const Rendezvous& rendezvous) {
  constexpr std::string_view k_finders[] = {
      "local", "export", "declare", "echo", "printf", "return", "[", "test", "[[", "read", "true"};
  Names names = item.sets.variables;
  names.insert(item.sets.arrays.begin(), item.sets.arrays.end());
  each_local({*item.statement}, [&](const shell::Assignment& one) { names.erase(one.name); });
  return item.sets.functions.size() == 1 && !names.empty() && !writes_file(item) &&
         std::all_of(
             names.begin(),
             names.end(),
             [&](const std::string& name) { return is_given(name) || rendezvous.has(name); }) &&
         std::all_of(item.runs.begin(), item.runs.end(), [&](const lint::Run* run) {
           return is_one_of(k_finders, run->name());
         });
}

void drop_rendezvous_functions(std::vector<Part>& parts, const Rendezvous& rendezvous) {
  Names functions;
  for (Part& part : parts) {
    if (part.role != Role::around) continue;
    const auto& runs = part.item.runs;
    const bool finds = only_finds_master(part.item, rendezvous);
    if (finds) functions.insert(*part.item.sets.functions.begin());
    if (finds || (runs.size() == 1 && functions.count(runs[0]->name()) > 0 &&
                  simple_command(*part.item.statement) != nullptr))
      part.verdict = {Verdict::Kind::unnecessary, k_finds_master};
  }
}

}  // namespace

void settle_others(std::vector<Part>& parts,
                   const Rendezvous& rendezvous,
                   std::size_t last,
                   bool has_many_nodes) {
  keep_what_is_checked(parts, last);
  settle_limits(parts, last);
  lose_submissions(parts);
  drop_rendezvous_functions(parts, rendezvous);
  lose_traps(parts);
  if (last < parts.size()) {
    keep_pauses(parts, last);
    keep_waits(parts, last);
  }
  lose_exit_codes(parts, last, has_many_nodes);
}

bool is_rendezvous(const Item& item, const Rendezvous& rendezvous) {
  return std::any_of(item.sets.variables.begin(),
                     item.sets.variables.end(),
                     [&](const std::string& name) { return rendezvous.has(name); });
}

// What the programs and the lines that stay use, from the last line to the first.
void keep_needed(std::vector<Part>& parts,
                 const std::vector<Program>& programs,
                 const Rendezvous& rendezvous) {
  Names needed;             // by lines of the set-up
  Names needed_by_program;  // each rank has variables of its own
  Names arguments;          // they may name files
  bool is_read = false;
  const Names files = files_that_stay(parts);
  const Bodies bodies = bodies_of(parts);
  for (const Program& program : programs) {
    Names names = program.exports;
    if (program.needs_shell()) add_names(program.source(), names);
    bodies.add_used(names, needed_by_program);
    arguments.merge(words_of(program.source()));
  }
  std::erase_if(needed_by_program, is_given);
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->role != Role::around) continue;
    const bool is_candidate = part->verdict.kind == Verdict::Kind::if_needed;
    if (part->verdict.kind == Verdict::Kind::kept) part->is_kept = true;
    if (is_candidate)
      part->is_kept =
          sets_one_of(part->item, needed) || sets_one_of(part->item, needed_by_program) ||
          is_in(files_of(part->item), arguments) || is_in(files_of(part->item), files) ||
          (is_read && part->item.only_sets() && part->verdict.step_loss.empty() &&
           !is_rendezvous(part->item, rendezvous));
    const bool acts = is_candidate && acts_inside(part->item) &&
                      part->item.sets.functions.empty() && !is_rendezvous(part->item, rendezvous);
    part->is_kept = part->is_kept || acts;
    if (!part->is_kept) continue;
    part->item.is_alone = !is_read && is_alone(part->item, needed, needed_by_program);
    Names names;
    add_names(part->verdict.text.empty() ? part->item.source : part->verdict.text, names);
    bodies.add_used(names, needed);
    is_read = is_read || reads_anything(part->item);
  }
}

namespace {

// What still starts ranks in the text of the line; empty: nothing.
std::string launcher_of(const Part& part) {
  const Item& item = part.item;
  if (!item.sets.functions.empty() || item.only_sets()) return "";
  return launcher_in(part.verdict.text.empty()
                         ? item.source.substr(0, item.source.size() - item.tail.size())
                         : part.verdict.text);
}

// ./retry 3 srun prog, env -i srun prog; not ./check --launcher srun, which starts nothing.
bool hands_on(const lint::Run& run, std::string_view command) {
  constexpr std::string_view k_naming[] = {"echo", "printf", "which", "type", "command"};
  if (is_auxiliary(run.name()) || is_one_of(k_naming, run.name())) return false;
  for (std::size_t i = 1; i < run.words.size(); ++i) {
    if (!run.words[i].is_literal || run.words[i].value.text != command) continue;
    const std::vector<lint::ExpandedWord> rest(run.words.begin() + static_cast<std::ptrdiff_t>(i),
                                               run.words.end());
    if (lint::launch_of(rest).program_at < rest.size()) return true;
  }
  return false;
}

// Of a line that has to be run; empty: it starts no step.
std::string step_loss(const Part& part, const Rendezvous& rendezvous, const Names& lost_functions) {
  const Item& item = part.item;
  if (!part.verdict.step_loss.empty()) return part.verdict.step_loss;
  if (part.verdict.text.empty() && starts_step_inside(item) &&
      !is_first_node(item, rendezvous, true))
    return k_step_would_wait;
  for (const lint::Run* run : item.runs) {
    if (lost_functions.count(run->name()) > 0) return "calls `" + run->name() + "`, which is lost";
    if (run->launch.launcher == lint::Launcher::none && hands_on(*run, "srun"))
      return k_step_would_wait;
  }
  return "";
}

}  // namespace

void lose_steps(std::vector<Part>& parts, const Rendezvous& rendezvous) {
  Names lost_functions;
  for (Part& part : parts) {
    if (!part.is_kept || part.role != Role::around) continue;
    std::string why = step_loss(part, rendezvous, lost_functions);
    const std::string launcher = why.empty() ? launcher_of(part) : "";
    if (!launcher.empty())
      why = "`" + launcher +
            "` in it starts ranks, which a set-up cannot: write it as one of [[steps]]";
    if (why.empty()) continue;
    const Names& functions = part.item.sets.functions;
    lost_functions.insert(functions.begin(), functions.end());
    part.is_kept = false;
    part.verdict = {Verdict::Kind::lost, why};
  }
}

}  // namespace dts::convert
