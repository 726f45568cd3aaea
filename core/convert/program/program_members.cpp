// SPDX-License-Identifier: Apache-2.0
// What a Program says of itself, and how programs of one statement join.
#include "core/convert/program/script_sizes.hpp"
#include "core/convert/program/shell_program.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::convert {

void Program::note(const std::vector<std::string>& more, const std::vector<std::string>& lost) {
  notes.insert(notes.end(), more.begin(), more.end());
  losses.insert(losses.end(), lost.begin(), lost.end());
}

void Program::add_blanks(const std::vector<Blank>& more) {
  for (const Blank& one : more)
    if (std::none_of(blanks.begin(), blanks.end(), [&](const Blank& other) {
          return other.option == one.option && other.texts == one.texts;
        }))
      blanks.push_back(one);
}

std::string Program::source() const {
  return text.empty() ? to_source(words) : text;
}

bool Program::needs_shell() const {
  return !text.empty() ||
         std::any_of(words.begin(), words.end(), [](const FlatWord& word) { return !plain(word); });
}

namespace {

// A launcher without the option starts the program so as well.
bool is_of_job(const std::string& name,
               const std::vector<std::string>& texts,
               const lint::Job& job) {
  const auto number = texts.empty() ? std::nullopt : parse_number(texts.back());
  if (!number) return false;
  if (name == "nodes") return job.nodes == number;
  if (name == "ntasks-per-node") return job.tasks_on_node() == number;
  if (name == "cpus-per-task") return job.cpus_per_task == number;
  if (name == "gpus-per-node") return job.gpus_per_node == number;
  if (name != "ntasks" || !job.tasks_on_node()) return false;
  return *job.tasks_on_node() * job.nodes.value_or(1) == *number;
}

}  // namespace

void add_layout(const Settings& settings, const lint::Job& job, Program& program) {
  Settings& all = program.settings;
  const bool is_first = all.empty();
  const auto see = [&](const std::string& name, const Asked& asked, const Settings& others) {
    const auto other = others.find(name);
    const bool is_same = other == others.end() ? is_of_job(name, asked.texts, job)
                                               : other->second.texts == asked.texts;
    if (!is_same)
      program.losses.push_back(
          fmt::format("--{}: programs of different layouts in one statement", name));
  };
  if (!is_first && !settings.empty()) {
    for (const auto& [name, asked] : settings) see(name, asked, all);
    for (const auto& [name, asked] : all)
      if (settings.count(name) == 0) see(name, asked, settings);
  }
  for (const auto& [name, asked] : settings) all[name] = asked;
}

void add_functions(const Program& functions, const lint::Job& job, Program& program) {
  write_launch_sizes(functions.launch_sizes, program);
  program.text = functions.text + program.text;
  add_layout(functions.settings, job, program);
  program.needs.insert(functions.needs.begin(), functions.needs.end());
  program.note(functions.notes, functions.losses);
}

}  // namespace dts::convert
