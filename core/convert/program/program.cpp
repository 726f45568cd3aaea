// SPDX-License-Identifier: Apache-2.0
#include "core/convert/program/program.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/lines/outputs.hpp"
#include "core/convert/lines/rendezvous.hpp"
#include "core/convert/lines/tools.hpp"
#include "core/convert/program/batch_values.hpp"
#include "core/convert/program/before_launcher.hpp"
#include "core/convert/program/launcher.hpp"
#include "core/convert/program/no_program.hpp"
#include "core/convert/program/script_sizes.hpp"
#include "core/convert/program/shell_program.hpp"
#include "core/convert/words/sole_program.hpp"
#include "core/lint/script/program.hpp"
#include "core/shell/parse.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::convert {
namespace {

constexpr int k_most_shells = 4;
constexpr const char* k_run_ends = "the run's end follows from the program's exit code";

std::string name_of(const FlatWord& word) {
  if (word.empty() || word[0].kind == Segment::Kind::source) return "";
  const std::size_t equals = word[0].text.find('=');
  return equals == std::string::npos ? "" : word[0].text.substr(0, equals);
}

void note_output(const shell::Pipeline& pipeline, Program& program) {
  if (redirects_output(pipeline))
    program.notes.emplace_back(
        "tee and >: each rank's output is in the run directory, see dtsubmit logs");
}

class Maker {
 public:
  // `end`: of the statement.
  Maker(Program& program, const ProgramContext& context, Inliner& inliner, std::size_t end)
      : program_(program), context_(context), inliner_(inliner), end_(end) {}

  // A simple command, with its pipeline's rest already looked at.
  void command(const shell::Command& one, Inliner& inliner) {
    for (const shell::Assignment& part : one.assignments) variable(inliner.assignment(part));
    words(inliner.words(one.words));
  }

  void finish() {
    if (!variables_.empty()) {
      FlatWord env{{Segment::Kind::literal, "env", true}};
      variables_.insert(variables_.begin(), std::move(env));
      program_.words.insert(program_.words.begin(), variables_.begin(), variables_.end());
    }
    note_own_values(own_, program_);
  }

 private:
  void variable(FlatWord word) {
    if (is_given(name_of(word)))
      program_.notes.push_back(name_of(word) + ": each rank gets its own");
    else
      variables_.push_back(std::move(word));
  }

  void words(std::vector<FlatWord> all) {
    while (only_runs_next(all)) all.erase(all.begin());
    if (!all.empty() && plain(all[0]) == "eval") return evaluated(all);
    if (!all.empty() && is_prefix_of_shell(plain(all[0]).value_or(""))) return with_options(all);
    if (!is_launched_) {
      Launched made = launched(all, context_.resolver, context_.subject.runs, context_.at, false);
      is_launched_ = made.launcher != lint::Launcher::none;
      if (is_launched_) {
        program_.launch_sizes = sizes_at_launch(made.settings, context_);
        settle(made);
        expand_once(made.command);
        find(made);
      }
      all = std::move(made.command);
    }
    while (!all.empty() && !name_of(all[0]).empty() && name_of(all[0])[0] != '-' &&
           name_of(all[0]).find('/') == std::string::npos) {
      variable(std::move(all[0]));
      all.erase(all.begin());
    }
    if (!unwrap(all)) tell(std::move(all));
  }

  // The shell that runs the launcher expands the words, for all ranks.
  void expand_once(std::vector<FlatWord>& command) {
    for (std::vector<FlatWord>* words : {&variables_, &command}) {
      write_sizes(*words, program_.launch_sizes);
      keep_first_node(*words, context_);
      own_.merge(own_values(*words));
    }
  }

  // Within an image srun looks into the image's folders.
  void find(Launched& made) const {
    const std::string name = made.command.empty() ? "" : plain(made.command[0]).value_or("");
    const bool is_inside = made.settings.count("container") > 0;
    if (made.launcher != lint::Launcher::srun || is_inside) return;
    FlatWord found = found_in_folder(name, context_);
    if (!found.empty()) made.command[0] = std::move(found);
  }

  void settle(Launched& made) {
    if (made.launcher == lint::Launcher::srun) program_.settings["launcher"] = {{"srun"}, k_no_row};
    if (made.launcher == lint::Launcher::mpirun)
      program_.settings["launcher"] = {{"mpirun"}, k_no_row};
    for (auto& [name, asked] : made.settings) program_.settings[name] = asked;
    for (FlatWord& one : made.variables) variable(std::move(one));
    if (context_.subject.job.has_gpus) drop_devices(variables_, made);
    program_.folder = made.folder;
    program_.needs.merge(made.needs);
    program_.names_nodes = made.names_nodes;
    program_.note(made.notes, made.losses);
    program_.blanks = std::move(made.blanks);
  }

  // eval WORDS: the words joined are a script.
  void evaluated(const std::vector<FlatWord>& all) {
    FlatWord joined;
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (i > 1) joined.push_back({Segment::Kind::literal, " ", true});
      joined.insert(joined.end(), all[i].begin(), all[i].end());
    }
    if (may_hold_script(joined)) return evaluated_by_job(all, joined);
    const auto text = to_script(joined);
    if (text && inner(*text, inliner_, true)) return;
    leave_to_shell(all);
  }

  // exec -a NAME PROGRAM
  void with_options(const std::vector<FlatWord>& all) {
    for (const FlatWord& word : all)
      if (lint::is_launcher(plain(word).value_or("")))
        program_.losses.push_back(
            fmt::format("`{}` behind options of `{}`", *plain(word), *plain(all[0])));
    leave_to_shell(all);
  }

  // A=1 eval TEXT: variables in front of it are those of the commands that it runs.
  void leave_to_shell(const std::vector<FlatWord>& all) {
    for (const FlatWord& one : variables_) {
      FlatWord value = one;
      const std::string name = name_of(one);
      value[0].text.erase(0, name.size() + 1);
      program_.text += name + "=" + to_source(value) + " ";
    }
    variables_.clear();
    program_.text += to_source(all);
  }

  // The quotes in a variable's value are those of a script.
  void evaluated_by_job(const std::vector<FlatWord>& all, const FlatWord& joined) {
    leave_to_shell(all);
    const Names names = used_names(to_source({joined}));
    for (const lint::Assigned& one : context_.subject.runs.assigned) {
      const std::string& value = one.value.text;
      const bool starts_ranks =
          value.find("srun ") != std::string::npos || value.find("mpirun ") != std::string::npos;
      if (starts_ranks && names.count(one.name) > 0)
        program_.losses.push_back(fmt::format(
            "the launcher in {}, whose value is known only in the job's shell", one.name));
    }
  }

  // bash -c TEXT: what it runs, if that is a single command.
  bool unwrap(const std::vector<FlatWord>& all) {
    if (all.size() < 3) return false;
    const std::string shell = lint::base_name(plain(all[0]).value_or(""));
    if (shell != "bash" && shell != "sh") return false;
    for (std::size_t i = 1; i + 1 < all.size(); ++i) {
      const std::string option = plain(all[i]).value_or("");
      if (!option.starts_with('-') || option.starts_with("--")) return false;
      if (option.find('c') == std::string::npos) continue;
      const auto text = to_script(all[i + 1]);
      if (i + 2 < all.size() || !text || may_hold_script(all[i + 1])) return false;
      if (inner(*text, inliner_, false)) return true;
      for (const Segment& part : all[i + 1])
        if (part.is_blank) program_.exports.merge(used_names(part.text));
      std::vector<FlatWord> edited = all;
      edited[i + 1] = {
          {Segment::Kind::literal, without_told(*text, context_.facts, program_), true}};
      tell(std::move(edited));
      return true;
    }
    return false;
  }

  // `is_of_job`: the shell that runs the text is the script's own.
  bool inner(const std::string& text, Inliner& outer, bool is_of_job) {
    if (++shells_ > k_most_shells) return false;
    const shell::Script script = shell::parse(text);
    if (!script.problems.empty() || script.statements.size() != 1 ||
        script.statements[0].background || script.statements[0].pipelines.size() != 1)
      return false;
    const shell::Pipeline& pipeline = script.statements[0].pipelines[0];
    if (pipeline.negated || !only_keeps_output(pipeline)) return false;
    const bool has_file = redirects_output(pipeline);
    if (has_file && (!is_of_job || needs_file(script, text))) return false;
    const shell::Command& one = pipeline.commands[0];
    if (one.words.empty()) return false;
    if (is_for_shell(one)) {
      if (is_of_job)
        program_.losses.push_back(fmt::format(
            "`{}` in the text of eval is for the script's own shell: write it without eval",
            first_word(one)));
      return false;
    }
    for (const shell::Word& word : one.words)
      for (const shell::Piece& piece : word.pieces)
        if (piece.kind == shell::Piece::Kind::process) return false;
    note_output(pipeline, program_);
    Inliner exported = outer.inner(text);
    command(one, exported);
    outer.add_inlined(exported.inlined());
    return true;
  }

  // Those of a launcher cannot: they are lost.
  [[nodiscard]] bool needs_file(const shell::Script& script, const std::string& text) {
    const lint::Runs runs = lint::runs_of(script, text);
    if (std::any_of(runs.runs.begin(), runs.runs.end(), is_tool)) return true;
    const std::string read =
        output_read_behind(script.statements[0].pipelines[0], text, context_.subject, end_);
    if (read.empty()) return false;
    const bool has_launcher =
        std::any_of(runs.runs.begin(), runs.runs.end(), [](const lint::Run& run) {
          return run.launch.launcher != lint::Launcher::none;
        });
    if (has_launcher) program_.losses.push_back(read + k_read_later);
    return !has_launcher;
  }

  // The last of all: options that dtsubmit tells the program's own launcher.
  void tell(std::vector<FlatWord> all) {
    std::vector<FlatWord> known;
    for (const FlatWord& word : all) known.push_back(context_.resolver.resolved(word));
    const auto expanded = to_expanded(known);
    const lint::Launch launch = lint::launch_of(expanded);
    if (launch.starts_processes && launch.launcher == lint::Launcher::none) {
      Told told = told_options(expanded, launch.program_at, context_.facts);
      add_told(told, program_);
      replace_deepspeed(all, launch.program_at, told, program_);
      std::size_t at = 0;
      std::erase_if(all, [&](const FlatWord&) { return told.is_dropped[at++]; });
    }
    program_.words = std::move(all);
  }

  Program& program_;
  const ProgramContext& context_;
  Inliner& inliner_;
  std::size_t end_;
  std::vector<FlatWord> variables_;
  Names own_;  // variables in words that the script's shell expands, of which each rank has its own
  bool is_launched_ = false;
  int shells_ = 0;
};

Program made_of(const Item& item, Inliner& inliner, const ProgramContext& context) {
  Program program;
  const shell::Pipeline* pipeline = sole_program(*item.statement);
  if (context.functions.empty() && !context.keeps_output && !makes_file(item) &&
      !calls_function(item, context) && pipeline != nullptr && only_keeps_output(*pipeline)) {
    if (pipeline->span.end != item.statement->span.end) program.notes.emplace_back(k_run_ends);
    note_output(*pipeline, program);
    Maker maker(program, context, inliner, item.span().end);
    maker.command(pipeline->commands[0], inliner);
    maker.finish();
    return program;
  }
  return shell_program(item, context);
}

}  // namespace

Program program_of(const Item& item, Inliner& inliner, const ProgramContext& context) {
  Program program = made_of(item, inliner, context);
  keep_functions(item, context, program);
  lose_program(item, context, program);
  program.arguments = inliner.arguments();
  account_for_arguments(item, inliner.has_arguments_of_set_up(), program);
  return program;
}

}  // namespace dts::convert
