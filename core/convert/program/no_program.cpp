// SPDX-License-Identifier: Apache-2.0
#include "core/convert/program/no_program.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/lines/effects.hpp"
#include "core/convert/lines/left_launcher.hpp"
#include "core/convert/lines/nodes.hpp"
#include "core/convert/lines/tools.hpp"
#include "core/convert/lines/verdict.hpp"
#include "core/convert/program/shell_program.hpp"
#include "core/convert/words/used_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::convert {
namespace {

bool is_function(const std::string& name, const ProgramContext& context) {
  const auto& statements = context.subject.script.statements;
  return std::any_of(statements.begin(), statements.end(), [&](const shell::Statement& one) {
    const shell::Command& command = one.pipelines[0].commands[0];
    return command.kind == shell::Command::Kind::function && command.name == name;
  });
}

}  // namespace

bool calls_function(const Item& item, const ProgramContext& context) {
  const bool is_plain = simple_command(*item.statement) != nullptr && !item.runs.empty();
  const std::string name = is_plain ? item.runs.front()->name() : "";
  const auto is_launcher = [](const std::string& word) { return lint::is_launcher(word); };
  return !name.empty() && is_function(name, context) &&
         std::none_of(item.words.begin(), item.words.end(), is_launcher);
}

bool may_be_of_file(const lint::Run& run) {
  const std::string& name = run.name();
  const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char one) {
    return shell::is_name_char(one) || one == '-' || one == '.';
  });
  constexpr std::string_view k_of_programs[] = {
      "exec", "env", "nohup", "nice", "timeout", "stdbuf", "taskset", "numactl"};
  return is_name && run.launch.launcher == lint::Launcher::none && !is_program(run) &&
         !is_one_of(k_of_programs, name) && !reads_only(name) && !is_auxiliary(name);
}

void account_for_arguments(const Item& item, bool are_of_set_up, Program& program) {
  if (!uses_arguments(*item.statement)) return;
  program.takes_arguments = !program.arguments && are_of_set_up;
  if (program.takes_arguments)
    program.notes.emplace_back("its arguments are those that the set-up's `shift` or `set` leaves");
  else if (!program.arguments)
    program.losses.emplace_back(
        "its arguments ($1, \"$@\"): what `shift` or `set` leaves of them is known only in the "
        "job's shell");
  else if (program.arguments->empty() && uses_all_arguments(*item.statement))
    program.notes.emplace_back(
        "\"$@\" is empty: if the script gets arguments, convert it again with them behind --");
}

void keep_functions(const Item& item, const ProgramContext& context, Program& program) {
  if (!item.follows_file) return;
  Names functions;
  const auto is_of_file = [&context](const lint::Run& run) {
    return may_be_of_file(run) && !is_function(run.name(), context);
  };
  for (const lint::Run* run : item.runs)
    if (is_of_file(*run)) functions.insert(run->name());
  if (!functions.empty() && program.text.empty()) program = shell_program(item, context);
  for (const lint::Run* run : item.inside)  // --data "$(folder_of_data)"
    if (run->around.inner == 0 && is_of_file(*run)) functions.insert(run->name());
  if (functions.empty() || !program.needs_shell()) return;
  program.functions = std::move(functions);
  program.notes.push_back(
      join(std::vector<std::string>(program.functions.begin(), program.functions.end()), ", ") +
      " may be of a file that the script reads: the program's shell has the file's functions, but "
      "of its variables only those that are exported");
}

namespace {

// alias NAME=...
bool is_alias(const std::string& name, const ProgramContext& context) {
  const auto& runs = context.subject.runs.runs;
  return std::any_of(runs.begin(), runs.end(), [&name](const lint::Run& run) {
    return run.name() == "alias" &&
           std::any_of(run.words.begin(), run.words.end(), [&name](const lint::ExpandedWord& word) {
             return word.value.text.starts_with(name + "=");
           });
  });
}

// RUN="srun -n $(nproc)"; $RUN ./prog: the launcher of a command that is kept with it.
bool hides_launcher(const Item& item, const Program& program) {
  return program.settings.count("launcher") == 0 && program.losses.empty() &&
         std::any_of(item.mains.begin(), item.mains.end(), [](const lint::Run* run) {
           const lint::Launcher launcher = run->launch.launcher;
           return launcher == lint::Launcher::srun || launcher == lint::Launcher::mpirun;
         });
}

}  // namespace

void lose_program(const Item& item, const ProgramContext& context, Program& program) {
  const std::string source = program.source();
  const std::string launcher = program.losses.empty() && source.ends_with(item.tail)
                                   ? launcher_in(source.substr(0, source.size() - item.tail.size()))
                                   : "";
  if (!launcher.empty())
    program.losses.push_back(fmt::format(
        "`{}` in it would start ranks within the program: name the program that it starts",
        launcher));
  if (!program.text.empty()) return;
  program.hides_launcher = hides_launcher(item, program) && !program.words.empty();
  if (program.hides_launcher)
    program.losses.push_back(
        fmt::format("the launcher in {}, whose value is known only in the job's shell",
                    to_source({program.words[0]})));
  const std::string name = program.words.empty() ? "" : plain(program.words[0]).value_or("");
  if (!name.empty() && is_function(name, context)) {
    program.losses.push_back(fmt::format(
        "`{}` is a function of the script, and what it starts depends on its arguments: write the "
        "command that it runs instead",
        name));
    program.words.clear();
    return;
  }
  if (!name.empty() && is_alias(name, context))
    program.losses.push_back(fmt::format(
        "`{}` is an alias of the script: write the command that it stands for instead", name));
  if (!program.words.empty()) return;
  program.losses.emplace_back(
      "no program is left: its name comes from variables or arguments that are empty here; set "
      "them, or write the arguments after --");
  each_expansion({*item.statement}, [&](const shell::Piece& piece) {
    const bool is_variable = piece.kind == shell::Piece::Kind::parameter && !piece.text.empty() &&
                             shell::is_name_begin(piece.text[0]);
    if (is_variable && !piece.text.starts_with("SLURM") && !context.resolver.variable(piece.text))
      program.needs.insert(piece.text);
  });
}

std::string side_by_side(std::uint64_t nodes) {
  return nodes > 1
             ? "programs in the background: write each as one of [[roles]]"
             : "programs side by side on one node: let one program start them all and wait for "
               "them, or write [[roles]], all but the first with `beside`";
}

}  // namespace dts::convert
