// SPDX-License-Identifier: Apache-2.0
#include "core/convert/program/shell_program.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/lines/effects.hpp"
#include "core/convert/lines/verdict.hpp"
#include "core/convert/program/batch_values.hpp"
#include "core/convert/program/launcher.hpp"
#include "core/convert/program/script_sizes.hpp"
#include "core/lint/lint.hpp"
#include "core/lint/script/program.hpp"
#include "core/shell/parse.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::convert {
namespace {

// What may be run by every rank as well as once.
constexpr std::string_view k_harmless[] = {
    "",       "echo",   "printf", "date",     "export",   "set",  "unset", "local",   "cd",
    "module", "source", ".",      "mkdir",    "test",     "[",    "[[",    "true",    "false",
    ":",      "exit",   "return", "read",     "sleep",    "wait", "trap",  "shift",   "declare",
    "pwd",    "shopt",  "conda",  "hostname", "readonly", "let",  "break", "continue"};

// Ranges of `text` without what the launchers are.
class Cutter {
 public:
  Cutter(std::string text, std::size_t begin) : text_(std::move(text)), begin_(begin) {}

  void cut(std::size_t from, std::size_t to, const std::string& instead = "") {
    if (from >= begin_ && from < to && to <= begin_ + text_.size())
      edits_.push_back({{from - begin_, to - begin_}, instead});
  }

  [[nodiscard]] std::string text() const {
    std::vector<lint::Finding> findings(1);
    for (const lint::Edit& edit : edits_) findings[0].edits.push_back(edit);
    return lint::apply_edits(text_, findings);
  }

 private:
  std::string text_;
  std::size_t begin_;  // its place in the script
  std::vector<lint::Edit> edits_;
};

void cut_told(const lint::Run& run, const Facts& facts, Cutter& cutter, Program& program) {
  if (!run.launch.starts_processes || run.launch.program_at >= run.words.size()) return;
  Told told = told_options(run.words, run.launch.program_at, facts);
  const auto is_alone = [&](std::size_t at) {  // not one of several words of a variable
    return std::count_if(run.words.begin(), run.words.end(), [&](const lint::ExpandedWord& one) {
             return one.span.begin == run.words[at].span.begin;
           }) == 1;
  };
  for (std::size_t i = 0; i < run.words.size(); ++i)
    if (told.is_dropped[i] && !is_alone(i)) return;  // kept: they say the same
  for (std::size_t i = 0; i < run.words.size(); ++i)
    if (told.is_dropped[i]) cutter.cut(run.words[i].span.begin, run.words[i].span.end);
  add_told(told, program);
}

void cut_launcher(const lint::Run& run,
                  const ProgramContext& context,
                  Cutter& cutter,
                  Program& program) {
  const lint::Launch& launch = run.launch;
  if (launch.launcher == lint::Launcher::none) return;
  if (launch.launcher == lint::Launcher::other || launch.command_at >= run.words.size()) {
    program.losses.push_back(
        fmt::format("the launcher {} within a condition or function", run.name()));
    return;
  }
  std::vector<FlatWord> words;
  for (const lint::ExpandedWord& one : run.words) words.push_back(from_expanded(one));
  Launched made = launched(
      words, context.resolver, context.subject.runs, context.at, run.around.is_in_function);
  made.settings["launcher"] = {{launch.launcher == lint::Launcher::srun ? "srun" : "mpirun"},
                               k_no_row};
  add_layout(made.settings, context.subject.job, program);
  program.needs.merge(made.needs);
  program.names_nodes = program.names_nodes || made.names_nodes;
  const bool are_plain = std::all_of(made.variables.begin(),
                                     made.variables.end(),
                                     [](const FlatWord& one) { return plain(one).has_value(); });
  if (!are_plain)
    program.losses.emplace_back(
        "variables that the launcher sets for a program, whose values are known only in the job's "
        "shell: export them in the script");
  const bool sets = are_plain && !made.variables.empty();
  program.note(made.notes, made.losses);
  program.add_blanks(made.blanks);
  const lint::ExpandedWord& command = run.words[launch.command_at];
  const bool is_sought = launch.launcher == lint::Launcher::srun && command.is_literal &&
                         made.settings.count("container") == 0;
  const FlatWord found = is_sought ? found_in_folder(command.value.text, context) : FlatWord();
  const std::size_t begin = run.words[launch.launcher_at].span.begin;
  if (begin == command.span.begin)  // both are in one variable: CMD="srun prog"; $CMD
    program.losses.push_back(
        fmt::format("the launcher in {}, whose value is known only in the job's shell",
                    context.subject.text.substr(begin, command.span.end - begin)));
  cutter.cut(begin, command.span.begin, sets ? "env " + to_source(made.variables) + " " : "");
  if (!found.empty()) cutter.cut(command.span.begin, command.span.end, to_source(found));
}

}  // namespace

std::string without_told(const std::string& text, const Facts& facts, Program& program) {
  const shell::Script script = shell::parse(text);
  const lint::Runs runs = lint::runs_of(script, text);
  Cutter cutter(text, 0);
  for (const lint::Run& run : runs.runs)
    if (run.around.inner == 0 && !run.around.is_in_substitution)
      cut_told(run, facts, cutter, program);
  return cutter.text();
}

namespace {

// In all, or on each node.
bool has_one_task(const Program& program, const lint::Job& job) {
  if (program.settings.count("ntasks") > 0) return number_in(program.settings, "ntasks") == 1U;
  const auto own = number_in(program.settings, "ntasks-per-node");
  return (own ? own : job.tasks_on_node()) == 1U;
}

// The program is a single rank, which can run the rest of the statement as well.
bool is_run_once(const Item& item, const Program& program, const lint::Job& job) {
  bool has_launcher = false;
  for (const lint::Run* run : item.mains) {
    if (run->launch.starts_processes) return false;
    const bool is_launched = run->launch.launcher != lint::Launcher::none;
    if (is_launched && run->around.reads_loop_input) return false;  // it would read all lines
    has_launcher = has_launcher || is_launched;
  }
  const bool is_open =
      std::any_of(program.blanks.begin(), program.blanks.end(), [](const Blank& one) {
        return one.option.starts_with("ntasks");
      });
  if (!has_launcher || is_open) return false;
  const auto nodes = number_in(program.settings, "nodes");
  return has_one_task(program, job) &&
         (program.settings.count("ntasks") > 0 || (nodes ? nodes : job.nodes).value_or(1) == 1U);
}

bool is_main(const Item& item, const lint::Run* run) {
  return std::find(item.mains.begin(), item.mains.end(), run) != item.mains.end();
}

// One task a node starts each program, whether by torchrun and the like or by srun.
bool is_once_per_node(const Item& item, const Program& program, const lint::Job& job) {
  const bool do_all_start = std::all_of(item.mains.begin(), item.mains.end(), [](const auto* run) {
    return run->launch.launcher == lint::Launcher::none || run->launch.starts_processes;
  });
  return do_all_start || has_one_task(program, job);
}

// Reports programs that the batch script starts itself, once, besides those that a launcher starts.
void lose_programs_run_once(const Item& item, const ProgramContext& context, Program& program) {
  const bool may_start =
      context.facts.nodes < 2 && is_once_per_node(item, program, context.subject.job);
  for (const lint::Run* run : item.mains) {
    if (run->launch.launcher != lint::Launcher::none ||
        (run->launch.starts_processes && may_start) || is_one_of(k_harmless, verb_of(*run)))
      continue;
    const std::string_view command =
        context.subject.text.substr(run->span.begin, run->span.end - run->span.begin);
    program.losses.push_back(
        fmt::format("`{}` is started without a launcher: every rank would run it",
                    command.substr(0, command.find('\n'))));
  }
}

// Reports srun and mpirun besides the programs: within the step of the program, they would wait for
// its end.
void lose_steps_beside(const Item& item, Program& program) {
  for (const lint::Run* run : item.runs) {
    const lint::Launcher launcher = run->launch.launcher;
    if (is_main(item, run) ||
        (launcher != lint::Launcher::srun && launcher != lint::Launcher::mpirun))
      continue;
    program.losses.push_back(fmt::format(
        "`{}` alongside the program would wait for the program's own step", run->name()));
  }
}

// Reports other commands of the text: `cat`, `scp`.
void lose_beside(const Item& item, const ProgramContext& context, Program& program) {
  Names names;
  for (const lint::Run* run : item.runs) {
    const Span name = run->words.empty() ? Span{} : run->words.front().span;
    if (!is_main(item, run) && !is_one_of(k_harmless, verb_of(*run)) && !run->around.is_in_function)
      names.emplace(context.subject.text.substr(name.begin, name.end - name.begin));
  }
  if (!names.empty())
    program.losses.push_back(
        fmt::format("`{}` alongside the program: every rank would run {}",
                    join(std::vector<std::string>(names.begin(), names.end()), "`, `"),
                    names.size() > 1 ? "them" : "it"));
}

constexpr const char* k_loop_side_by_side =
    "a loop that starts programs in the background: write a sweep, whose elements run side by "
    "side, each in a job of its own";

constexpr const char* k_function_leaves_it =
    "a function that starts a program in the background: the text that calls it would end before "
    "the program";

// Behind `item`, the script waits before it does anything other than print.
bool waits_next(const Item& item, const lint::Subject& subject) {
  for (const lint::Run& run : subject.runs.runs) {
    if (run.span.begin < item.span().end || run.around.inner > 0 || run.name() == "echo" ||
        run.name() == "printf" || run.name().empty())
      continue;
    return run.name() == "wait";
  }
  return false;
}

// Lets the text wait for its programs in the background where the script does; otherwise they are
// lost. Returns their number. `is_alone`: the text is run once.
std::size_t wait_for_backgrounds(const Item& item,
                                 const ProgramContext& context,
                                 bool is_alone,
                                 Program& program) {
  std::size_t backgrounds = 0;
  std::size_t conditionals = 0;
  bool is_in_loop = false;
  for (const lint::Run* run : item.mains) {
    backgrounds += run->around.is_background ? 1 : 0;
    conditionals += run->around.is_conditional ? 1 : 0;
    is_in_loop = is_in_loop || run->around.is_in_loop;
  }
  if (backgrounds == 0) return 0;
  if (!item.sets.functions.empty()) {
    if (!waits(item)) program.losses.emplace_back(k_function_leaves_it);
    return backgrounds;
  }
  // if ...; then A & else B & fi: one of them runs, and is waited for.
  if (!is_in_loop && (item.mains.size() == 1 || conditionals == item.mains.size()))
    program.text += "\nwait $!";
  else if (is_alone && (waits(item) || waits_next(item, context.subject)))
    program.text += "\nwait";
  else
    program.losses.push_back(is_in_loop ? k_loop_side_by_side : side_by_side(context.facts.nodes));
  return backgrounds;
}

}  // namespace

Program shell_program(const Item& item, const ProgramContext& context) {
  Program program;
  bool has_launcher = false;
  bool is_in_loop = false;
  Cutter cutter(std::string(context.subject.text.substr(item.span().begin,
                                                        item.span().end - item.span().begin)),
                item.span().begin);
  for (const lint::Run* run : item.mains) {
    cut_launcher(*run, context, cutter, program);
    cut_told(*run, context.facts, cutter, program);
    has_launcher = has_launcher || run->launch.launcher != lint::Launcher::none;
    is_in_loop = is_in_loop || run->around.is_in_loop;
  }
  program.text = cutter.text() + item.tail;
  if (has_launcher) write_launch_sizes(sizes_at_launch(program.settings, context), program);
  if (submits(item)) program.losses.emplace_back(k_submits);
  const bool is_alone = !has_launcher && context.facts.nodes < 2;
  const std::size_t backgrounds = wait_for_backgrounds(item, context, is_alone, program);
  lose_steps_beside(item, program);
  if (is_alone || is_run_once(item, program, context.subject.job)) return program;
  if (has_launcher) lose_programs_run_once(item, context, program);
  if (is_in_loop && backgrounds == 0)
    program.losses.emplace_back(
        "a loop that starts programs: write a sweep, or each of them as one of [[steps]]");
  lose_beside(item, context, program);
  return program;
}

}  // namespace dts::convert
