// SPDX-License-Identifier: Apache-2.0
#include "core/convert/parts.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/choice.hpp"
#include "core/convert/codes.hpp"
#include "core/convert/lines/effects.hpp"
#include "core/convert/lines/errexit.hpp"
#include "core/convert/lines/outputs.hpp"
#include "core/convert/lines/tools.hpp"
#include "core/convert/program/no_program.hpp"
#include "core/convert/program/told.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace dts::convert {
namespace {

// Adds the name of what `run` calls, and functions among its arguments if it calls a function or a
// command in a variable, which may call them in turn. `all`: the script's functions.
void add_called(const lint::Run& run, const Names& all, Names& called) {
  called.insert(run.name());
  if (all.count(run.name()) == 0 && run.name().find(lint::k_unknown) == std::string::npos) return;
  for (const lint::ExpandedWord& word : run.words)
    if (word.is_literal && all.count(word.value.text) > 0) called.insert(word.value.text);
}

Names called_by(const Item& item, const Names& all) {
  Names called;
  for (const lint::Run* run : item.runs) add_called(*run, all, called);
  return called;
}

bool calls_one_of(const Item& item, const Names& functions, const Names& all) {
  const Names called = called_by(item, all);
  return std::any_of(called.begin(), called.end(), [&](const std::string& name) {
    return functions.count(name) > 0;
  });
}

}  // namespace

Names functions_in(const std::vector<Part>& parts) {
  Names functions;
  for (const Part& part : parts)
    functions.insert(part.item.sets.functions.begin(), part.item.sets.functions.end());
  return functions;
}

std::vector<Part> parts_of(const lint::Subject& subject) {
  std::vector<Part> parts;
  Names functions;
  for (Item& item : items_of(subject)) {
    Part part;
    if (!item.mains.empty() && !begins_with_option(item)) {
      const bool defines = !item.sets.functions.empty();
      part.role = defines ? Role::definition : Role::program;
      if (defines) functions.insert(item.sets.functions.begin(), item.sets.functions.end());
    }
    part.item = std::move(item);
    parts.push_back(std::move(part));
  }
  const Names all = functions_in(parts);
  for (Part& part : parts) {
    if (part.role != Role::around || !calls_one_of(part.item, functions, all)) continue;
    part.role = part.item.sets.functions.empty() ? Role::program : Role::definition;
    // A function that calls such a one is another.
    functions.insert(part.item.sets.functions.begin(), part.item.sets.functions.end());
  }
  Errexit errexit(subject.text);
  for (Part& part : parts) {
    part.failures = errexit.now();
    errexit.follow(part.item);
  }
  choose_programs(parts, !subject.job.has_many_nodes());
  return parts;
}

std::vector<const Part*> called_definitions(const std::vector<Part>& parts, const Item& item) {
  std::map<std::string, std::vector<std::size_t>> definitions;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].role == Role::definition)
      for (const std::string& name : parts[i].item.sets.functions) definitions[name].push_back(i);
  std::vector<bool> is_called(parts.size());
  const Names words = called_by(item, functions_in(parts));
  std::vector<std::string> open(words.begin(), words.end());
  while (!open.empty()) {
    const auto defined = definitions.find(open.back());
    open.pop_back();
    if (defined == definitions.end()) continue;
    for (const std::size_t at : std::exchange(defined->second, {})) {
      if (is_called[at]) continue;
      is_called[at] = true;
      const Names& used = parts[at].item.words;
      open.insert(open.end(), used.begin(), used.end());
    }
  }
  std::vector<const Part*> called;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (is_called[i]) called.push_back(&parts[i]);
  return called;
}

std::vector<Item> items_in(const std::vector<Part>& parts) {
  std::vector<Item> items;
  for (const Part& part : parts) items.push_back(part.item);
  return items;
}

std::size_t last_program(const std::vector<Part>& parts) {
  std::size_t last = parts.size();
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].role == Role::program) last = i;
  return last;
}

bool changes_folder(const std::vector<Part>& parts) {
  return std::any_of(
      parts.begin(), parts.end(), [](const Part& one) { return one.item.sets.changes_folder; });
}

Bodies bodies_of(const std::vector<Part>& parts) {
  Bodies bodies;
  for (const Part& part : parts) bodies.add(part.item);
  return bodies;
}

bool is_launched(const Item& item) {
  return std::any_of(item.mains.begin(), item.mains.end(), [](const lint::Run* run) {
    return run->launch.launcher != lint::Launcher::none;
  });
}

bool is_started_on_all(const Part& part) {
  const auto& mains = part.item.mains;
  return part.role == Role::program &&
         (is_launched(part.item) || std::any_of(mains.begin(), mains.end(), [](const auto* run) {
            return run->launch.starts_processes &&
                   told_options(run->words, run->launch.program_at, {}).reach == Reach::several;
          }));
}

std::string output_read_later(const std::vector<Part>& parts, const Item& item) {
  const Names files = outputs_of(item);
  if (files.empty()) return "";
  for (const Part& part : parts) {
    if (part.item.span().begin <= item.span().begin || only_prints(part.item)) continue;
    if (std::string found = read_by(part.item, files); !found.empty()) return found;
  }
  return "";
}

std::string note_on_kept(const Part& part,
                         bool has_many_nodes,
                         const Rendezvous& rendezvous,
                         bool is_tear_down) {
  std::string note = is_first_node(part.item, rendezvous, has_many_nodes)
                         ? std::string("becomes the ") +
                               (asks_for_address(part.item) ? "address" : "name") +
                               " of the first node"
                         : note_on(part.item, has_many_nodes, is_tear_down);
  if (is_tear_down) return note_on_tear_down(part.item, note);
  if (has_many_nodes && part.failures.stop && calls_functions(part.item))
    note += std::string(note.empty() ? "" : "; ") + k_failure_within;
  if (!part.is_repeated) return note;
  return (note.empty() ? "" : note + "; ") + "runs again before each later step" +
         (overwrites(part.item) ? ", also over what a step has written" : "");
}

}  // namespace dts::convert
