// SPDX-License-Identifier: Apache-2.0
#include "core/convert/program/script_sizes.hpp"

#include "core/base/text/text.hpp"
#include "core/spec/size.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

// Replaces expansions in a text, however they are quoted.
class SizeWriter {
 public:
  SizeWriter(const std::string& text, const ScriptSizes& sizes, bool of_shell)
      : text_(text), sizes_(sizes), of_shell_(of_shell) {}

  std::string all() {
    while (at_ < text_.size()) {
      follow_test();
      if (!other_job() && !quoted() && !arithmetic() && !value()) made_ += text_[at_++];
    }
    return std::move(made_);
  }

  // Sizes that the text expands in another way than all() writes.
  [[nodiscard]] const Names& left() const { return left_; }

 private:
  [[nodiscard]] bool is_here(std::string_view part) const {
    return text_.compare(at_, part.size(), part) == 0;
  }

  void pass(std::size_t count) {
    made_ += text_.substr(at_, count);
    at_ = std::min(at_ + count, text_.size());
  }

  // \$NAME, and a here-document with options of another job, for which the names are.
  bool other_job() {
    if (is_here("\\")) {
      pass(2);
      return true;
    }
    if (!is_here("<<'") && !is_here("<<\"") && !is_here("<<\\") && !is_here("<< '") &&
        !is_here("<< \"") && !is_here("<<-'") && !is_here("<<-\""))
      return false;
    const std::size_t begin = text_.find_first_not_of("<-'\"\\ ", at_);
    const std::size_t end = text_.find_first_of("'\"\n; ", begin);
    if (end == std::string::npos) return false;
    const std::size_t close = text_.find("\n" + text_.substr(begin, end - begin), end);
    const std::size_t count = (close == std::string::npos ? text_.size() : close) - at_;
    if (!of_shell_ && text_.substr(at_, count).find("#SBATCH") == std::string::npos) return false;
    pass(count);
    return true;
  }

  // 'TEXT' and comments, which the shell does not expand.
  bool quoted() {
    if (!of_shell_ || at_ < end_of_document_) return false;
    if (is_here("<<") && !is_here("<<<")) see_document();
    if (is_here("\"")) in_double_quotes_ = !in_double_quotes_;
    if (in_double_quotes_) return false;
    const bool is_word = at_ == 0 || std::string_view(" \t\n;").find(text_[at_ - 1]) < 4;
    const bool is_comment = is_here("#") && is_word;
    if (!is_comment && !is_here("'")) return false;
    const std::size_t end = text_.find(is_comment ? '\n' : '\'', at_ + 1);
    pass((end == std::string::npos ? text_.size() : end + 1) - at_);
    return true;
  }

  // cat <<WORD: quotes in its lines are none.
  void see_document() {
    const std::size_t begin = text_.find_first_not_of("<- \t", at_);
    const std::size_t end = text_.find_first_of(" \t\n;&|<>)", begin);
    if (begin == std::string::npos || end == std::string::npos || end == begin) return;
    const std::size_t close = text_.find("\n" + text_.substr(begin, end - begin) + "\n", end);
    if (close != std::string::npos) end_of_document_ = close;
  }

  // $((...)), ((...)), for ((...))
  bool arithmetic() {
    const bool is_command =
        at_ == 0 || std::string_view(" \n\t;&|!").find(text_[at_ - 1]) != std::string_view::npos;
    const std::size_t begin = is_here("$((") ? 3 : is_here("((") && is_command ? 2 : 0;
    if (depth_ == 0 && begin == 0) return false;
    if (depth_ > 0 && begin == 0 && !is_here("(") && !is_here(")")) return false;
    depth_ += begin > 0 ? 2 : is_here("(") ? 1 : -1;
    pass(begin > 0 ? begin : 1);
    return true;
  }

  void follow_test() {
    if (is_here("[[ ")) in_test_ = true;
    if (is_here(" ]]") || is_here("\n")) in_test_ = false;
  }

  // [[ NAME -gt 1 ]], [[ 1 -lt NAME ]]
  [[nodiscard]] bool is_compared(std::size_t end) const {
    constexpr std::string_view k_signs[] = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge"};
    return in_test_ && ((at_ >= 4 && is_one_of(k_signs, text_.substr(at_ - 4, 3))) ||
                        (end < text_.size() && is_one_of(k_signs, text_.substr(end + 1, 3))));
  }

  // False: none of the sizes begins here.
  bool value() {
    const bool is_braced = is_here("${");
    const bool is_bare = text_[at_] != '$';
    if (is_bare && at_ > 0 && (shell::is_name_char(text_[at_ - 1]) || text_[at_ - 1] == '$'))
      return false;
    const std::size_t begin = at_ + (is_braced ? 2 : is_bare ? 0 : 1);
    std::size_t end = begin;
    while (end < text_.size() && shell::is_name_char(text_[end])) ++end;
    const auto size = sizes_.find(text_.substr(begin, end - begin));
    if (size == sizes_.end() || (is_bare && depth_ == 0 && !is_compared(end))) return false;
    const bool is_written = is_braced ? braced(end, size->second) : plain(end, size->second);
    if (!is_written) left_.insert(size->first);
    return is_written;
  }

  bool plain(std::size_t end, const std::optional<std::string>& size) {
    if (!size) return false;
    made_ += *size;
    at_ = end;
    return true;
  }

  // The brace that closes an expansion within which `at` is.
  [[nodiscard]] std::size_t close_of(std::size_t at) const {
    const std::size_t end = std::min(text_.size(), at + 4096);  // the longest default
    for (int open = 1; at < end; ++at) {
      if (text_[at] == '\\')
        ++at;
      else if (text_[at] == '{')
        ++open;
      else if (text_[at] == '}' && --open == 0)
        return at;
    }
    return std::string::npos;
  }

  // `end`: of the name. A variable that the script does not have keeps its default.
  bool braced(std::size_t end, const std::optional<std::string>& size) {
    const std::size_t close = close_of(end);
    if (close == std::string::npos) return false;
    const std::string operation = text_.substr(end, close - end);
    const std::size_t at = operation.starts_with(':') ? 1 : 0;
    const char sign = at < operation.size() ? operation[at] : ' ';
    const std::string rest = operation.substr(std::min(at + 1, operation.size()));
    const bool is_default = sign == '-' || (size && (sign == '=' || sign == '?'));
    const bool is_written = operation.empty() ? size.has_value() : is_default || sign == '+';
    const bool is_own = size.has_value() == (sign == '+');  // `rest` is the value
    if (!is_written || (is_own && !operation.empty() && !is_one_word(rest))) return false;
    made_ += operation.empty() || (size && sign != '+') ? *size
             : is_own                                   ? SizeWriter(rest, sizes_, false).all()
                                                        : "";
    at_ = close + 1;
    return true;
  }

  // Also without the braces around it.
  static bool is_one_word(const std::string& rest) {
    const bool is_command = rest.starts_with("$(") && rest.find(')') == rest.size() - 1;
    return is_command || rest.find_first_of(" `\\") == std::string::npos;
  }

  const std::string& text_;
  const ScriptSizes& sizes_;
  std::size_t at_ = 0;
  int depth_ = 0;  // parentheses of arithmetic that are open
  bool in_test_ = false;
  bool of_shell_;
  bool in_double_quotes_ = false;
  std::size_t end_of_document_ = 0;
  std::string made_;
  Names left_;
};

bool names_one_of(const std::string& text, const ScriptSizes& sizes) {
  return std::any_of(sizes.begin(), sizes.end(), [&text](const auto& size) {
    return text.find(size.first) != std::string::npos;
  });
}

std::optional<std::string> asked(const Program& program,
                                 const Draft& draft,
                                 const std::string& name) {
  const auto number = program.settings.count(name) > 0  ? number_in(program.settings, name)
                      : program.dropped.count(name) > 0 ? std::nullopt
                                                        : number_in(draft.settings, name);
  return number ? std::optional(std::to_string(*number)) : std::nullopt;
}

}  // namespace

ScriptSizes sizes_at_launch(const Settings& asked, const ProgramContext& context) {
  ScriptSizes sizes = context.sizes;
  if (asked.count("gpus") + asked.count("ntasks-per-gpu") > 0) return sizes;
  auto per_node = number_in(asked, "ntasks-per-node");
  auto tasks = number_in(asked, "ntasks");
  const std::uint64_t all = context.facts.nodes;
  const std::uint64_t nodes =
      number_in(asked, "nodes").value_or(tasks ? spec::nodes_that_share(*tasks, all) : all);
  if (!tasks && per_node) tasks = *per_node * nodes;
  if (tasks && !per_node && nodes > 0 && *tasks % nodes == 0) per_node = *tasks / nodes;
  const bool are_of_job = !tasks && nodes == context.subject.job.nodes.value_or(1);
  const auto erase_if_equal = [&](const char* name, const std::optional<std::uint64_t>& own) {
    const auto size = sizes.find(name);
    const bool is_equal = size != sizes.end() && own && size->second == std::to_string(*own);
    if (is_equal || (are_of_job && !own)) sizes.erase(name);
  };
  for (const char* name : {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}) erase_if_equal(name, nodes);
  for (const char* name : {"SLURM_NTASKS", "SLURM_NPROCS"}) erase_if_equal(name, tasks);
  erase_if_equal("SLURM_NTASKS_PER_NODE", per_node);
  return sizes;
}

std::string with_script_sizes(const std::string& text, const ScriptSizes& sizes, bool of_shell) {
  return names_one_of(text, sizes) ? SizeWriter(text, sizes, of_shell).all() : text;
}

std::string with_all_sizes(const std::string& text, const Program& program) {
  return with_script_sizes(with_script_sizes(text, program.launch_sizes, true), program.sizes);
}

void write_sizes(std::vector<FlatWord>& words, const ScriptSizes& sizes) {
  for (FlatWord& word : words)
    for (Segment& one : word) {
      if (one.kind != Segment::Kind::source) continue;
      one.text = with_script_sizes(one.text, sizes);
      if (parse_number(one.text)) one.kind = Segment::Kind::literal;
    }
}

void write_launch_sizes(const ScriptSizes& sizes, Program& program) {
  program.launch_sizes.insert(sizes.begin(), sizes.end());
  program.text = with_script_sizes(program.text, sizes, true);
}

void write_sizes_of_role(Program& program, const ScriptSizes& sizes) {
  write_launch_sizes(sizes, program);
  // Otherwise the ranks' shells expand what is left.
  if (program.settings.count("launcher") == 0) write_sizes(program.words, sizes);
}

void note_left_sizes(const std::string& text, Program& program) {
  if (!names_one_of(text, program.sizes)) return;
  SizeWriter writer(text, program.sizes, false);
  writer.all();
  for (const std::string& name : writer.left())
    if (program.sizes.at(name))
      program.losses.push_back("$" + name + " is another in this job: write its value");
    else
      program.notes.push_back("$" + name +
                              " is not set in the script; here it is the rank's cores");
}

void settle_sizes(Program& program, const Draft& draft, const ProgramContext& context) {
  const Resolver& resolver = context.resolver;
  const bool starts_tasks = program.settings.count("launcher") > 0;  // those of the script
  const auto add = [&](const char* name) {
    if (const auto value = resolver.variable(name)) program.sizes[name] = value;
  };
  if (!starts_tasks &&
      program.dropped.count("ntasks") + program.dropped.count("ntasks-per-node") > 0)
    for (const char* name : {"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_PER_NODE"}) add(name);
  if (!starts_tasks && program.settings.count("nodes") > 0)  // a step of its own
    program.sizes.merge(sizes_at_launch(program.settings, context));
  const bool is_open = std::any_of(draft.blanks.begin(), draft.blanks.end(), [](const Blank& one) {
    return one.option == "cpus-per-task";
  });
  const auto cores = asked(program, draft, "cpus-per-task");
  const auto of_script = resolver.variable("SLURM_CPUS_PER_TASK");
  const bool is_unset = !of_script && !is_open && draft.settings.count("cpus-per-task") == 0;
  if (is_unset && cores && (!starts_tasks || *cores == "1"))
    program.sizes["SLURM_CPUS_PER_TASK"] = std::nullopt;
  else if (!starts_tasks && of_script && cores != of_script)
    add("SLURM_CPUS_PER_TASK");
  const std::string before = program.source();
  program.text = with_script_sizes(program.text, program.sizes);
  write_sizes(program.words, program.sizes);
  if (program.source() != before)
    program.notes.emplace_back(
        starts_tasks ? "$SLURM_CPUS_PER_TASK is not set in the script: its default is written in"
                     : "the sizes of the script's job ($SLURM_NTASKS and the like) are written in: "
                       "this job has one process");
}

}  // namespace dts::convert
