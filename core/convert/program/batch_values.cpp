// SPDX-License-Identifier: Apache-2.0
#include "core/convert/program/batch_values.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/words/known_text.hpp"
#include "core/convert/words/once.hpp"
#include "core/lint/script/program.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

// Of a segment's source. What is more than one expansion has none.
OwnPlace place_in(const std::string& source) {
  const auto word = word_in(source);
  const shell::Piece* piece = word ? only_piece(*word) : nullptr;
  return piece == nullptr ? OwnPlace::none : own_place(*piece);
}

// NAME=value, unset NAME, read NAME. Looks at little before each mention: a line may be long.
bool is_changed(std::string_view text, std::string_view name) {
  constexpr std::size_t k_before = 256;
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const std::string_view rest = text.substr(at + name.size());
    if (rest.starts_with('=') && !rest.starts_with("==")) return true;
    std::string_view line = text.substr(at - std::min(at, k_before), std::min(at, k_before));
    line.remove_prefix(line.rfind('\n') + 1);
    std::string before = " " + std::string(line);
    std::replace_if(
        before.begin(), before.end(), [](char c) { return !shell::is_name_char(c); }, ' ');
    for (const char* verb : {" unset ", " read ", " let "})
      if (before.find(verb) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

ScriptSizes sizes_of_job(const lint::Subject& subject, const Resolver& resolver) {
  const lint::Job& job = subject.job;
  ScriptSizes sizes;
  const auto add = [&](const char* name) {
    const auto value = resolver.variable(name);
    if (value && !is_changed(subject.text, name)) sizes[name] = value;
  };
  if (job.nodes)
    for (const char* name : {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}) add(name);
  if (job.ntasks || job.ntasks_per_node)  // otherwise Slurm sets none
    for (const char* name : {"SLURM_NTASKS", "SLURM_NPROCS"}) add(name);
  if (job.ntasks_per_node) add("SLURM_NTASKS_PER_NODE");
  return sizes;
}

void keep_first_node(std::vector<FlatWord>& words, const ProgramContext& context) {
  const std::uint64_t nodes = context.subject.job.nodes.value_or(1);
  if (nodes < 2 || context.facts.nodes != nodes) return;
  for (FlatWord& word : words)
    for (Segment& one : word) {
      if (one.kind != Segment::Kind::source) continue;
      const OwnPlace place = place_in(one.text);
      if (place != OwnPlace::none) one = {Segment::Kind::source, "$MASTER_ADDR", one.quoted};
    }
}

Names own_values(const std::vector<FlatWord>& words) {
  Names own;
  for (const FlatWord& word : words)
    for (const Segment& one : word)
      if (one.kind == Segment::Kind::source) own.merge(variables_of_node(one.text));
  return own;
}

void note_own_values(const Names& own, Program& program) {
  const Names used = used_names(to_source(program.words));
  for (const std::string& name : own)
    if (used.count(name) > 0)
      program.notes.push_back(name +
                              ": each rank has its own; in the script, all ranks get "
                              "that of the first node");
}

namespace {

// gcc, mpicc, nvcc, ifx: other commands give -o another meaning.
bool is_compiler(const std::string& verb) {
  constexpr std::string_view k_begins[] = {"gcc", "g++", "clang", "gfortran"};
  constexpr std::string_view k_ends[] = {
      "cc", "CC", "++", "cxx", "f77", "f90", "f95", "fort", "icx", "icpx", "icpc", "ifx", "ftn"};
  return std::any_of(std::begin(k_begins),
                     std::end(k_begins),
                     [&verb](std::string_view part) { return verb.starts_with(part); }) ||
         std::any_of(std::begin(k_ends), std::end(k_ends), [&verb](std::string_view part) {
           return verb.ends_with(part);
         });
}

// mpicc -o NAME, cp DIR/NAME .; not cp -r, which copies folders
bool makes_here(const lint::Run& run, const std::string& name) {
  const auto& words = run.words;
  const std::string verb = verb_of(run);
  const std::string& last = words.back().value.text;
  const bool copies_folders = std::any_of(words.begin() + 1, words.end(), [](const auto& word) {
    const std::string& text = word.value.text;
    return text == "--recursive" || text == "--archive" ||
           (text.starts_with('-') && !text.starts_with("--") &&
            text.find_first_of("rRa") != std::string::npos);
  });
  const bool copies =
      ((verb == "cp" && !copies_folders) || verb == "ln") && (last == "." || last == "./");
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i].value.text;
    const bool is_output = word == "-o" + name || (word == name && words[i - 1].value.text == "-o");
    if ((is_output && is_compiler(verb)) || (copies && lint::base_name(word) == name)) return true;
  }
  return false;
}

// The last line before the program that changes the folder.
std::size_t last_folder_change(const ProgramContext& context) {
  constexpr std::string_view k_changes[] = {"cd", "pushd", "popd"};
  std::size_t at = 0;
  for (const lint::Run& run : context.subject.runs.runs)
    if (run.span.begin < context.at && !run.around.is_in_subshell &&
        is_one_of(k_changes, run.name()))
      at = run.span.begin;
  return at;
}

// Programs of the environment that it activates are in PATH.
bool changes_path(const ProgramContext& context) {
  constexpr std::string_view k_changes[] = {"module",
                                            "ml",
                                            "source",
                                            ".",
                                            "conda",
                                            "mamba",
                                            "micromamba",
                                            "spack",
                                            "pip",
                                            "pip3",
                                            "eval"};
  const lint::Runs& all = context.subject.runs;
  return std::any_of(all.runs.begin(),
                     all.runs.end(),
                     [&](const lint::Run& run) {
                       return run.span.begin < context.at && is_one_of(k_changes, run.name());
                     }) ||
         std::any_of(all.assigned.begin(), all.assigned.end(), [](const lint::Assigned& one) {
           return one.name == "PATH";
         });
}

}  // namespace

FlatWord found_in_folder(const std::string& program, const ProgramContext& context) {
  if (program.empty() || program.find_first_of("/=") != std::string::npos) return {};
  const auto& runs = context.subject.runs.runs;
  const std::size_t begin = last_folder_change(context);
  const bool is_here = (context.is_in_folder && context.is_in_folder(program)) ||
                       std::any_of(runs.begin(), runs.end(), [&](const lint::Run& run) {
                         return run.span.begin >= begin && run.span.begin < context.at &&
                                !run.words.empty() && makes_here(run, program);
                       });
  // Few people install files of these names in PATH.
  if (!is_here && !program.ends_with(".sh") && !program.ends_with(".py")) return {};
  const std::string here = "./" + program;
  if (is_here || !changes_path(context)) return {{Segment::Kind::literal, here, true}};
  const std::string in_path = "$(type -P " + shell_quote(program) + " || echo ";
  return {{Segment::Kind::source, in_path + shell_quote(here) + ")", true}};
}

}  // namespace dts::convert
