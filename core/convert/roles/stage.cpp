// SPDX-License-Identifier: Apache-2.0
#include "core/convert/roles/stage.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/roles/lines.hpp"
#include "core/convert/roles/sequence.hpp"
#include "core/convert/roles/waiting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace dts::convert {
namespace {

bool is_pause(const Item& item) {
  return item.runs.size() == 1 && item.runs[0]->name() == "sleep" &&
         simple_command(*item.statement) != nullptr && !item.statement->background;
}

std::string source_without_tail(const Item& item) {
  return item.source.substr(0, item.source.size() - item.tail.size());
}

std::string text_of_program(const Program& program, bool is_background) {
  if (program.text.empty()) return to_source(program.words) + (is_background ? " &\n" : "\n");
  return is_background ? "{\n" + program.text + "\n} &\n" : program.text + "\n";
}

bool is_of_container(const std::string& name) {
  return name.starts_with("container") || name == "mount";
}

std::map<std::string, std::vector<std::string>> container_of(const Program& program) {
  std::map<std::string, std::vector<std::string>> container;
  for (const auto& [name, asked] : program.settings)
    if (is_of_container(name)) container[name] = asked.texts;
  return container;
}

class Stage {
 public:
  Stage(const Cast& cast,
        const lint::Job& job,
        std::vector<Part>& parts,
        const std::vector<Program>& programs,
        const std::vector<std::size_t>& places)
      : cast_(cast), job_(job), parts_(parts), programs_(programs), places_(places) {
    if (cast_.is_sequence) first_ = places_.front();
    for (const std::size_t one : places_)
      if (parts_[one].item.statement->background) {
        first_ = one;
        break;
      }
    for (const Troupe& role : cast_.roles)
      if (&role != cast_.home())
        for (const std::size_t one : role.programs) of_others_.insert(places_[one]);
  }

  // The last part that the role's program is made of.
  [[nodiscard]] std::size_t last_place_of(const Troupe& role) const {
    std::size_t last = places_[role.programs.back()];
    if (cast_.home() == &role)
      for (std::size_t i = last; i < cast_.end; ++i)
        if (parts_[i].role == Role::program &&
            std::find(places_.begin(), places_.end(), i) == places_.end())
          last = i;
    return last;
  }

  Program program_of_role(const Troupe& role) {
    const bool is_home = cast_.home() == &role;
    Program made = programs_[role.programs.front()];
    const std::string pauses = is_home ? "" : pauses_before(places_[role.programs.front()]);
    if (is_home && (role.programs.size() > 1 || has_lines_of_its_own()))
      made = of_home(role);
    else if (!pauses.empty())
      made.text = pauses + (made.text.empty() ? "exec " + to_source(made.words) : made.text);
    if (role.are_alike)
      for (const std::size_t one : role.programs) made.note({}, programs_[one].losses);
    settle_size(role, made);
    if (cast_.has_roles()) made.notes.insert(made.notes.begin(), "role " + role.name);
    for (const std::size_t one : role.programs)
      parts_[places_[one]].verdict.why = cast_.has_roles() ? "of role " + role.name : "";
    return made;
  }

 private:
  // Lines that the batch script runs while programs are in the background.
  [[nodiscard]] bool is_line_of_home(std::size_t at) const {
    const Part& part = parts_[at];
    if (at <= first_ || at >= cast_.end || part.role != Role::around) return false;
    if (cast_.is_sequence) return is_in_sequence(part);
    if (keeps_id_of_other_role(at)) return false;
    const bool sets_for_later = at > places_.back() && part.item.only_sets() &&
                                part.verdict.kind != Verdict::Kind::unnecessary;
    // What is exported only for the programs behind it: RAY_ADDRESS would confuse `ray start`.
    const bool exports_for_later =
        (of_others_.empty() || at > *of_others_.rbegin()) && part.item.only_sets() &&
        part.verdict.kind == Verdict::Kind::kept && !part.item.sets.exported.empty();
    const bool keeps_process_id = part.item.only_sets() &&  // PID=$!
                                  part.item.source.find("$!") != std::string::npos &&
                                  part.verdict.kind != Verdict::Kind::unnecessary;
    return keeps_process_id || is_action(part) || sets_for_later || exports_for_later ||
           is_pause(part.item);
  }

  // PID=$! of a program that the role's shell does not start.
  [[nodiscard]] bool keeps_id_of_other_role(std::size_t at) const {
    const Item& item = parts_[at].item;
    if (!item.only_sets() || item.source.find("$!") == std::string::npos) return false;
    while (at > 0 && !parts_[--at].item.statement->background) {
    }
    return of_others_.count(at) > 0;
  }

  [[nodiscard]] bool has_lines_of_its_own() const {
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (is_line_of_home(i)) return true;
    return false;
  }

  [[nodiscard]] std::string pauses_before(std::size_t place) const {
    std::string text;
    for (std::size_t i = first_; i < place; ++i)
      if (i > first_ && is_pause(parts_[i].item))
        text += source_without_tail(parts_[i].item) + "\n";
    return text;
  }

  // Otherwise the programs would end with the shell.
  [[nodiscard]] bool waits_at_end(const Troupe& role) const {
    if (!parts_[places_[role.programs.back()]].item.statement->background)
      return cast_.waits_at_end;
    for (std::size_t i = places_.back() + 1; i < cast_.end; ++i)
      if (parts_[i].role == Role::program && !parts_[i].item.only_sets())
        return cast_.waits_at_end;  // a line of its own is the last
    return true;
  }

  // True if the variable holds the id of a process of the batch script's own node in the end.
  [[nodiscard]] bool is_id_of_home(const std::string& name) const {
    for (std::size_t i = cast_.end; i > 0; --i) {
      const Item& item = parts_[i - 1].item;
      if (item.sets.variables.count(name) == 0) continue;
      return item.source.find(name + "=$!") != std::string::npos && !keeps_id_of_other_role(i - 1);
    }
    return false;
  }

  // "wait $PID", whose exit code is that of the process, if the role's shell starts it; otherwise
  // "wait".
  [[nodiscard]] std::string wait_at_end() const {
    if (cast_.end >= parts_.size()) return "wait";
    const Item& item = parts_[cast_.end].item;
    const shell::Command* command = simple_command(*item.statement);
    const bool is_plain = command != nullptr && first_word(*command) == "wait" &&
                          command->redirections.empty() && !item.used.empty();
    const bool are_known = std::all_of(item.used.begin(),
                                       item.used.end(),
                                       [this](const auto& name) { return is_id_of_home(name); });
    return is_plain && are_known ? std::string(trim(item.source)) : "wait";
  }

  // A program of the batch script's own node.
  void add_program(std::size_t place,
                   const Program& one,
                   const std::string& pauses,
                   Program& made) {
    made.text += pauses + text_of_program(one, parts_[place].item.statement->background);
    made.needs.insert(one.needs.begin(), one.needs.end());
    made.functions.insert(one.functions.begin(), one.functions.end());
    for (const std::string& note : one.notes)
      if (std::find(made.notes.begin(), made.notes.end(), note) == made.notes.end())
        made.notes.push_back(note);
    made.note({}, one.losses);
    made.add_blanks(one.blanks);
  }

  // One of its own lines, as shell text.
  static std::string text_of_line(const Part& part) {
    return source_without_tail(part.item) + (part.item.statement->background ? " &" : "") +
           part.item.tail + "\n";
  }

  // All that the batch script runs on its own node, in its order.
  Program of_home(const Troupe& role) {
    Program made;
    std::string pauses;
    const auto container = container_of(programs_[role.programs.front()]);
    made.settings = programs_[role.programs.front()].settings;
    made.folder = programs_[role.programs.front()].folder;
    made.arguments = programs_[role.programs.front()].arguments;
    made.failures = programs_[role.programs.front()].failures;
    std::size_t next = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      if (next < role.programs.size() && places_[role.programs[next]] == i) {
        const Program& one = programs_[role.programs[next++]];
        if (container_of(one) != container || one.folder != made.folder)
          made.losses.emplace_back("programs on one node inside and outside a container");
        add_program(i, one, std::exchange(pauses, ""), made);
      } else if (is_line_of_home(i)) {
        if (is_pause(part.item)) {
          pauses += text_of_line(part);
        } else {
          if (!container.empty() && !part.item.runs.empty())
            made.losses.push_back(
                fmt::format("`{}` runs outside the container", part.item.runs[0]->name()));
          made.text += std::exchange(pauses, "") + text_of_line(part);
        }
        part.role = Role::program;
        part.verdict.why = cast_.has_roles() ? "of role " + role.name : "";
      }
    }
    if (waits_at_end(role)) made.text += wait_at_end() + "\n";
    while (made.text.ends_with('\n')) made.text.pop_back();
    return made;
  }

  void settle_size(const Troupe& role, Program& made) const {
    const bool is_joined = role.programs.size() > 1 && !role.are_alike;
    const auto all = number_in(made.settings, "ntasks");
    std::uint64_t tasks = job_.tasks_on_node().value_or(1);
    if (is_joined && !cast_.has_roles() && tasks > 1)  // the cores of all of them
      made.settings["cpus-per-task"] = {{std::to_string(tasks * job_.cpus_per_task.value_or(1))},
                                        k_no_row};
    if (is_joined)
      tasks = 1;
    else if (all)
      tasks = *all / cast_.nodes[role.programs.front()]->size();
    made.settings.erase("ntasks");
    made.settings["nodes"] = {{std::to_string(role.nodes.size())}, k_no_row};
    if (role.is_one_world) return void(made.settings.erase("ntasks-per-node"));
    if (role.are_alike && tasks == 1) {  // programs that do not know of each other
      made.settings.erase("ntasks-per-node");
      made.settings["per-node"] = {{}, k_no_row};
      return;
    }
    if (made.starts_processes) return;
    if (made.settings.count("ntasks-per-node") == 0 || all || is_joined)
      made.settings["ntasks-per-node"] = {{std::to_string(std::max<std::uint64_t>(tasks, 1))},
                                          k_no_row};
  }

  const Cast& cast_;
  const lint::Job& job_;
  std::vector<Part>& parts_;
  const std::vector<Program>& programs_;
  const std::vector<std::size_t>& places_;
  std::size_t first_ = 0;            // the first program in the background
  std::set<std::size_t> of_others_;  // programs of other roles than the batch script's
};

}  // namespace

void add_role(const Cast& cast, std::size_t index, Step& step) {
  const Troupe& role = cast.roles[index];
  step.name = role.name;
  step.until_others_end = role.until_others_end;
  if (role.beside) step.beside = cast.roles[*role.beside].name;
  step.spares_others = cast.spare_others;
}

void join_programs(const Cast& cast,
                   const lint::Job& job,
                   std::vector<Part>& parts,
                   std::vector<Program>& programs,
                   std::vector<std::size_t>& places,
                   Draft& draft) {
  if (cast.roles.empty()) {
    if (cast.lacks_room) lose_steps_without_room(job.nodes.value_or(1), programs);
    return;
  }
  Stage stage(cast, job, parts, programs, places);
  std::vector<Program> joined;
  std::vector<std::size_t> last;
  for (const Troupe& role : cast.roles) {
    joined.push_back(stage.program_of_role(role));
    last.push_back(stage.last_place_of(role));
  }
  programs = std::move(joined);
  places = std::move(last);
  draft.take_back("ntasks", "each program has its own number of ranks");
  if (!cast.has_roles()) return;
  for (Program& program : programs)  // otherwise it would have the job's
    if (const auto gres = program.settings.find("gres");
        gres != program.settings.end() && gres->second.texts == std::vector<std::string>{"none"})
      gres->second.texts = {"gpu:0"};
  draft.take_back("nodes", "each role has its own number of nodes");
  draft.take_back("ntasks-per-node", "each role has its own number of ranks");
}

}  // namespace dts::convert
