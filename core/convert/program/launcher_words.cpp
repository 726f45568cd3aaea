// SPDX-License-Identifier: Apache-2.0
#include "core/convert/program/launcher_words.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/program/plugin_options.hpp"
#include "core/convert/words/known_text.hpp"
#include "core/lint/script/sbatch_options.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dts::convert {
namespace {

// Of srun: the same options of a job.
constexpr std::string_view k_size_options[] = {"nodes",
                                               "ntasks",
                                               "ntasks-per-node",
                                               "cpus-per-task",
                                               "gpus",
                                               "gpus-per-node",
                                               "gpus-per-task",
                                               "gres",
                                               "cpus-per-gpu",
                                               "ntasks-per-gpu"};
// Of srun: they change what the ranks do.
constexpr std::string_view k_lost_options[] = {"multi-prog",
                                               "het-group",
                                               "exclude",
                                               "chdir",
                                               "environment",
                                               "export-file",
                                               "preserve-env",
                                               "prolog",
                                               "epilog",
                                               "task-prolog",
                                               "task-epilog",
                                               "network",
                                               "bcast"};

// "ray" of $(which ray); empty: the word is something else.
std::string found_by(const FlatWord& word) {
  if (word.size() != 1 || word[0].kind != Segment::Kind::source) return "";
  const std::string& text = word[0].text;
  for (const std::string_view begin : {"$(which ", "`which ", "$(command -v ", "`command -v "})
    if (text.starts_with(begin)) {
      const std::string name = text.substr(begin.size(), text.size() - begin.size() - 1);
      return name.find_first_of(" |;&$") == std::string::npos ? name : "";
    }
  return "";
}

// $CMD whose value, whatever the conditions say, begins with a program.
bool holds_program(const FlatWord& word, const lint::Variables& variables) {
  if (word.size() != 1 || word[0].kind != Segment::Kind::source) return false;
  const Names names = used_names(word[0].text);
  if (names.size() != 1 || word[0].text.find('(') != std::string::npos) return false;
  const lint::Value* value = variables.find(*names.begin());
  if (value == nullptr) return false;
  const std::string_view text = trim(value->text);
  if (text.empty() || text[0] == '-') return false;
  return text[0] != lint::k_unknown || text.find("}/") != std::string_view::npos;  // $BIN/a.out
}

// $AUTO_RESUME that is empty or --auto-resume=1, depending on conditions: options of srun that a
// job of dtsubmit does without.
bool holds_only_flags(const FlatWord& word, const lint::Runs& runs) {
  if (word.size() != 1 || word[0].kind != Segment::Kind::source) return false;
  const Names names = used_names(word[0].text);
  if (names.size() != 1 || word[0].text.find_first_of("([") != std::string::npos) return false;
  bool is_set = false;
  for (const lint::Assigned& one : runs.assigned) {
    if (one.name != *names.begin()) continue;
    is_set = true;
    if (!one.value.is_known()) return false;
    for (const std::string& option : split(trim(one.value.text), ' ')) {
      const std::string name =
          option.substr(std::min<std::size_t>(2, option.size()),
                        option.find('=') == std::string::npos
                            ? std::string::npos
                            : option.find('=') - std::min<std::size_t>(2, option.find('=')));
      const bool is_needed = is_size(name) || is_without_counterpart(name) ||
                             is_left_to_sbatch(name) || name.starts_with("container") ||
                             name == "export" || name == "mpi";
      if (!option.empty() && (!option.starts_with("--") || is_needed)) return false;
    }
  }
  return is_set;
}

// $SRUN_ARGS or "${ARGS[@]}" that neither the script sets nor the shell that submits: no word.
bool is_not_set(FlatWord word, const Resolver& resolver, const lint::Runs& runs) {
  std::erase_if(word, [](const Segment& one) {
    return one.kind == Segment::Kind::literal && one.text.empty();
  });
  if (word.size() != 1 || word[0].kind != Segment::Kind::source) return false;
  const Names names = used_names(word[0].text);
  if (names.size() != 1) return false;
  const std::string& name = *names.begin();
  const bool is_array = word[0].text == "${" + name + "[@]}";
  if (!is_array && (word[0].quoted || word[0].text.find_first_of("([:-") != std::string::npos))
    return false;
  return !name.starts_with("SLURM") && runs.variables.find(name) == nullptr &&
         runs.variables.find_array(name) == nullptr && !resolver.variable(name);
}

// "NAME" of the unknown value "\x01{NAME}".
std::string trim_braces(const std::string& text) {
  const std::string begin{lint::k_unknown, '{'};
  return text.starts_with(begin) && text.ends_with('}') ? text.substr(2, text.size() - 3) : "";
}

// Options of mpirun whose value is the next word.
constexpr std::string_view k_of_mpirun[] = {
    "-np", "-ppn", "-npernode", "-host", "-hosts", "-hostfile", "-machinefile", "-map-by"};

// The last word is the value of an option in the word before it.
bool is_value(const std::vector<FlatWord>& words) {
  if (words.size() < 2) return false;
  const std::string before = plain(words[words.size() - 2]).value_or("");
  if (is_one_of(k_of_mpirun, before)) return true;
  if (!before.starts_with('-') || before.find('=') != std::string::npos) return false;
  return before.starts_with("--") ? !lint::is_srun_flag(before.substr(2))
                                  : before.size() == 2 && !lint::is_srun_flag(before[1]);
}

void stand_in(std::vector<FlatWord>& words, const Resolver& resolver, const lint::Runs& runs) {
  FlatWord& last = words.back();
  if (is_value(words)) return;
  if (holds_program(last, runs.variables))
    last = {{Segment::Kind::literal, "program", true}};
  else if (is_not_set(last, resolver, runs) || holds_only_flags(last, runs))
    last = {{Segment::Kind::literal, k_no_option, true}};
}

}  // namespace

std::vector<FlatWord> known_words(const std::vector<FlatWord>& words,
                                  const Resolver& resolver,
                                  const lint::Runs& runs) {
  std::vector<FlatWord> known;
  for (const FlatWord& word : words) known.push_back(resolver.resolved(word));
  const std::size_t program = lint::launch_of(to_expanded(known)).program_at;
  std::vector<FlatWord> made;
  for (std::size_t i = 0; i < words.size(); ++i) {
    made.push_back(known[i]);
    if (const std::string name = found_by(words[i]); !name.empty())
      made.back() = {{Segment::Kind::literal, name, true}};
    if (i > 0 && (i != program || is_not_set(made.back(), resolver, runs)))
      stand_in(made, resolver, runs);
  }
  return made;
}

std::string argument_in(const std::string& source, const lint::Runs& runs, bool is_in_function) {
  const auto word = word_in(source);
  const shell::Piece* piece = word ? only_piece(*word) : nullptr;
  if (piece == nullptr || piece->kind != shell::Piece::Kind::parameter || !piece->operation.empty())
    return "";
  if (parse_number(piece->text)) return is_in_function ? "" : "$" + piece->text;
  const lint::Value* value = runs.variables.find(piece->text);
  const bool is_of_function =
      std::any_of(runs.assigned.begin(), runs.assigned.end(), [&](const lint::Assigned& one) {
        return one.name == piece->text && one.around.is_in_function;
      });
  if (value == nullptr || !value->is_certain || is_of_function) return "";
  const std::string name = trim_braces(value->text);
  return parse_number(name) ? "$" + name : "";
}

std::vector<FlatWord> split_words(const FlatWord& list) {
  std::vector<FlatWord> words(1);
  for (const Segment& one : list) {
    if (one.kind != Segment::Kind::literal) {
      words.back().push_back(one);
      continue;
    }
    const std::vector<std::string> parts = split(one.text, ',');
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) words.emplace_back();
      if (!parts[i].empty()) words.back().push_back({Segment::Kind::literal, parts[i], true});
    }
  }
  return words;
}

bool has_empty_part(std::string_view value) {
  return value.empty() || value[0] == ':' || value.find("::") != std::string_view::npos ||
         value.find(",:") != std::string_view::npos;
}

bool is_size(std::string_view name) {
  return is_one_of(k_size_options, name);
}

bool is_size_of_job(std::string_view name, std::string_view source) {
  constexpr std::pair<std::string_view, std::string_view> k_sizes[] = {
      {"nodes", "SLURM_NNODES"},
      {"nodes", "SLURM_JOB_NUM_NODES"},
      {"ntasks", "SLURM_NTASKS"},
      {"ntasks", "SLURM_NPROCS"},
      {"ntasks-per-node", "SLURM_NTASKS_PER_NODE"},
      {"cpus-per-task", "SLURM_CPUS_PER_TASK"},
      {"gpus-per-node", "SLURM_GPUS_PER_NODE"},
      {"gpus", "SLURM_GPUS"}};
  if (!source.starts_with('$')) return false;
  source.remove_prefix(1);
  if (source.starts_with('{') && source.ends_with('}'))
    source = source.substr(1, source.size() - 2);
  return std::any_of(std::begin(k_sizes), std::end(k_sizes), [&](const auto& row) {
    return row.first == name && row.second == source;
  });
}

std::optional<lint::LaunchOption> image_of_name(const lint::Launch& launch,
                                                const lint::Runs& runs) {
  // pyxis: NAME:exec, NAME:create and so on.
  const auto name_of = [](const lint::LaunchOption& one) {
    return one.value.substr(0, one.value.find(':'));
  };
  const lint::LaunchOption* name = launch.option("container-name");
  if (name == nullptr || launch.option("container-image") != nullptr) return std::nullopt;
  const lint::LaunchOption* only = nullptr;
  bool are_several = false;
  for (const lint::Run& run : runs.runs) {
    const lint::LaunchOption* other = run.launch.option("container-name");
    const lint::LaunchOption* image = run.launch.option("container-image");
    if (other == nullptr || image == nullptr) continue;
    if (name_of(*other) == name_of(*name)) return *image;
    are_several = are_several || (only != nullptr && only->value != image->value);
    only = image;
  }
  // Names that the job makes up cannot be compared, but all are of one image.
  const bool is_certain = only != nullptr && !are_several;
  return is_certain ? *only : lint::LaunchOption{"container-image", "", {}};
}

namespace {

// Its text says so, or is only known in the job's shell.
bool may_install(const lint::Run& run) {
  return std::any_of(run.words.begin() + static_cast<std::ptrdiff_t>(run.launch.command_at),
                     run.words.end(),
                     [](const lint::ExpandedWord& word) {
                       const std::string& text = word.value.text;
                       return text.find(lint::k_unknown) != std::string::npos ||
                              text.find("install") != std::string::npos;
                     });
}

}  // namespace

bool is_changed_before(const lint::Launch& launch, const lint::Runs& runs, std::size_t at) {
  const auto name_of = [](const lint::Launch& one) {
    const lint::LaunchOption* name = one.option("container-name");
    return name == nullptr ? "" : name->value.substr(0, name->value.find(':'));
  };
  const std::string name = name_of(launch);
  if (name.empty()) return false;
  const bool has_image = launch.option("container-image") != nullptr;
  constexpr std::string_view k_steady[] = {"true", "echo", "hostname", "ls", "nvidia-smi", "sleep"};
  return std::any_of(runs.runs.begin(), runs.runs.end(), [&](const lint::Run& run) {
    const std::string& program = run.launch.program;
    return name_of(run.launch) == name && run.launch.option("container-image") != nullptr &&
           !is_one_of(k_steady, program) && !lint::is_python(program) &&
           !run.launch.starts_processes &&
           (!has_image || (run.span.begin < at && run.runs_script && may_install(run)));
  });
}

bool starts_several(const std::vector<lint::ExpandedWord>& words, const lint::Launch& launch) {
  const std::size_t from = std::min(launch.command_at, words.size());
  return std::any_of(words.begin() + static_cast<std::ptrdiff_t>(from),
                     words.end(),
                     [](const lint::ExpandedWord& one) { return one.value.text == ":"; });
}

std::string unknown_options(const std::vector<FlatWord>& words, const lint::Launch& launch) {
  std::vector<std::string> names;
  for (std::size_t i = launch.launcher_at; i < std::min(launch.command_at, words.size()); ++i)
    if (!plain(words[i])) names.push_back(to_source(words[i]));
  return join(names, ", ");
}

bool is_without_counterpart(std::string_view name) {
  return is_one_of(k_lost_options, name);
}

}  // namespace dts::convert
