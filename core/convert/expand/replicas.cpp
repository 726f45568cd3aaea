// SPDX-License-Identifier: Apache-2.0
#include "core/convert/expand/replicas.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/expand/shapes.hpp"
#include "core/convert/words/names.hpp"
#include "core/lint/script/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace dts::convert {
namespace {

using shell::Command;
using shell::Piece;
using shell::Word;

// Of the whole job, or of certain nodes: they do not add up with the number of components.
constexpr std::string_view k_not_of_a_node[] = {
    "gpus", "nodelist", "licenses", "array", "bb", "bbf", "switches"};
constexpr std::string_view k_of_one_node[] = {"nodes", "ntasks", "ntasks-per-node"};
constexpr std::string_view k_of_a_step[] = {
    "nodes", "ntasks", "ntasks-per-node", "nodelist", "exclude", "relative", "gpus", "het-group"};
// The script's shell and each program have those of one component.
constexpr std::string_view k_counts[] = {"SLURM_NNODES",
                                         "SLURM_JOB_NUM_NODES",
                                         "SLURM_STEP_NUM_NODES",
                                         "SLURM_NTASKS",
                                         "SLURM_NPROCS",
                                         "SLURM_STEP_NUM_TASKS",
                                         "SLURM_TASKS_PER_NODE",
                                         "SLURM_JOB_CPUS_PER_NODE"};

std::string_view bytes_of(std::string_view text, const Span& span) {
  return text.substr(span.begin, span.end - span.begin);
}

// What one component requests; nullopt: not a node with one task.
std::optional<std::vector<std::string>> requests_of(const lint::Header& header,
                                                    std::size_t component) {
  std::vector<std::string> requests;
  for (const lint::Directive& one : header.directives) {
    if (one.component != component || one.name == "job-name") continue;
    if (is_one_of(k_not_of_a_node, one.name)) return std::nullopt;
    if (is_one_of(k_of_one_node, one.name) && one.value != "1") return std::nullopt;
    requests.push_back(one.name + "=" + one.value);
  }
  return requests;
}

bool are_alike(const lint::Header& header) {
  const auto first = requests_of(header, 0);
  if (!first || !header.problems.empty()) return false;
  for (std::size_t i = 1; i < header.components; ++i)
    if (requests_of(header, i) != first) return false;
  return true;
}

// The script's only srun; null: none, or several.
const Command* only_srun(const shell::Statements& statements) {
  const Command* found = nullptr;
  std::size_t count = 0;
  each_command(statements, [&](const Command& one) {
    if (one.kind != Command::Kind::simple || first_word(one) != "srun") return;
    found = &one;
    ++count;
  });
  return count == 1 ? found : nullptr;
}

// It starts as many tasks as there are components, and nothing else is started on the first.
bool has_a_task_in_each(const lint::Subject& subject) {
  const lint::Run* step = nullptr;
  for (const lint::Run& run : subject.runs.runs) {
    if (run.around.inner > 0 || !lint::is_launch(run)) continue;
    if (step != nullptr || run.launch.launcher != lint::Launcher::srun) return false;
    step = &run;
  }
  const Names used = used_names(subject.text);
  return step != nullptr && !step->launch.has_unknown_options &&
         std::none_of(std::begin(k_of_a_step),
                      std::end(k_of_a_step),
                      [step](std::string_view name) { return step->launch.option(name); }) &&
         std::none_of(std::begin(k_counts), std::end(k_counts), [&used](std::string_view name) {
           return used.count(std::string(name)) > 0;
         });
}

// The words of each component's program, with the options of its step: srun A : B : C.
std::vector<std::vector<const Word*>> groups_of(const Command& srun) {
  std::vector<std::vector<const Word*>> groups(1);
  for (std::size_t i = 1; i < srun.words.size(); ++i)
    if (literal_of(srun.words[i]) == ":")
      groups.emplace_back();
    else
      groups.back().push_back(&srun.words[i]);
  return groups;
}

// Without the names of the step's own logs.
std::vector<std::string_view> words_of_group(std::string_view text,
                                             const std::vector<const Word*>& group) {
  std::vector<std::string_view> words;
  for (const Word* word : group) {
    const std::string_view source = bytes_of(text, word->span);
    if (!source.starts_with("--output=") && !source.starts_with("--error="))
      words.push_back(source);
  }
  return words;
}

// How a shell would read the next character of the text so far.
char quote_at_end(std::string_view text) {
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'')
      ++i;
    else if (quote == 0 ? c == '"' || c == '\'' : c == quote)
      quote = quote == 0 ? c : 0;
  }
  return quote;
}

// The text of `bash -c` in single quotes, where the script's own shell has put the job's number
// into it: the inner shell knows the same number. nullopt: something else is put into it.
std::optional<std::string> as_plain_text(const Word& word) {
  std::string text;
  bool has_number = false;
  for (const Piece& one : word.pieces) {
    if (one.kind == Piece::Kind::literal) {
      text += one.text;
      continue;
    }
    if (one.kind != Piece::Kind::parameter || one.text != "SLURM_JOB_ID" || !one.operation.empty())
      return std::nullopt;
    has_number = true;
    text += quote_at_end(text) == '\'' ? "'\"$SLURM_JOB_ID\"'" : "${SLURM_JOB_ID}";
  }
  return has_number ? std::optional(shell_quote(text)) : std::nullopt;
}

// The word behind `bash -c`; null: none.
const Word* text_of_shell(const std::vector<const Word*>& group) {
  for (std::size_t i = 0; i + 2 < group.size(); ++i)
    if (literal_of(*group[i]) == "bash" && literal_of(*group[i + 1]) == "-c") return group[i + 2];
  return nullptr;
}

// The lines of the further components.
std::vector<Span> further_lines(std::string_view text, const lint::Header& header) {
  std::vector<Span> lines;
  for (std::size_t begin = 0; begin < header.end;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::string_view rest = line.starts_with("#SBATCH") ? trim(line.substr(7)) : "";
    const bool is_next = rest.starts_with("hetjob") || rest.starts_with("packjob");
    if (!rest.empty() && (is_next || !lines.empty())) lines.push_back({begin, end});
    begin = end + 1;
  }
  return lines;
}

Expanded unchanged(std::string_view text) {
  Expanded same{Rewrite(text)};
  same.script.keep({0, text.size()});
  return same;
}

}  // namespace

bool names_components(std::string_view text) {
  return text.find("_HET_GROUP_") != text.npos || text.find("SLURM_HET_") != text.npos;
}

Expanded with_replicas_as_nodes(const lint::Subject& subject) {
  const std::string_view text = subject.text;
  const lint::Header header = lint::read_header(text);
  if (header.components < 2 || !are_alike(header)) return unchanged(text);
  const Command* srun = only_srun(subject.script.statements);
  if (srun == nullptr || !has_a_task_in_each(subject)) return unchanged(text);
  const auto groups = groups_of(*srun);
  const auto program = words_of_group(text, groups[0]);
  const bool is_same = std::all_of(groups.begin(), groups.end(), [&](const auto& group) {
    return words_of_group(text, group) == program;
  });
  if (groups.size() != header.components || program.empty() || !is_same) return unchanged(text);

  std::size_t last = 0;  // byte behind the first component's options
  for (const lint::Directive& one : header.directives)
    if (one.component == 0) last = std::max({last, one.span.end, one.value_span.end});
  Expanded made{Rewrite(text)};
  made.script.keep({0, last});
  made.script.insert(fmt::format(" --nodes={0} --ntasks={0}", header.components));
  const std::vector<Span> lines = further_lines(text, header);
  for (const Span& line : lines) {
    made.script.keep({last, line.begin});
    last = line.end;
  }
  made.rows.push_back(
      {lines,
       Became::unnecessary,
       "",
       fmt::format("{0} components that request the same are {0} nodes: nodes = {0}",
                   header.components)});
  const Word* inner = text_of_shell(groups[0]);
  if (const auto plain = inner == nullptr ? std::nullopt : as_plain_text(*inner)) {
    made.script.keep({last, inner->span.begin});
    made.script.insert(*plain);
    for (std::size_t i = inner->span.begin; i < inner->span.end; ++i) made.script.drop(i);
    last = inner->span.end;
  }
  made.script.keep({last, groups[0].back()->span.end});
  made.script.keep({srun->words.back().span.end, text.size()});
  made.rows.push_back({{{groups[0].back()->span.end, srun->words.back().span.end}},
                       Became::unnecessary,
                       "",
                       "the same program in each component"});
  return made;
}

}  // namespace dts::convert
