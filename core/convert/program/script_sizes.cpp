// SPDX-License-Identifier: Apache-2.0
#include "core/convert/program/script_sizes.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

// Replaces expansions in a text, however they are quoted.
class SizeWriter {
 public:
  SizeWriter(const std::string& text, const ScriptSizes& sizes) : text_(text), sizes_(sizes) {}

  std::string all() {
    while (at_ < text_.size()) {
      if (is_here("$(("))
        pass(3, true);
      else if (is_here("))") && in_arithmetic_)
        pass(2, false);
      else if (!value())
        made_ += text_[at_++];
    }
    return std::move(made_);
  }

 private:
  [[nodiscard]] bool is_here(std::string_view part) const {
    return text_.compare(at_, part.size(), part) == 0;
  }

  void pass(std::size_t count, bool is_arithmetic) {
    made_ += text_.substr(at_, count);
    at_ += count;
    in_arithmetic_ = is_arithmetic;
  }

  // False: none of the sizes begins here.
  bool value() {
    const bool is_braced = is_here("${");
    const bool is_bare = text_[at_] != '$';
    const bool is_inside = at_ > 0 && shell::is_name_char(text_[at_ - 1]);
    if (is_bare && (!in_arithmetic_ || is_inside)) return false;
    const std::size_t begin = at_ + (is_braced ? 2 : is_bare ? 0 : 1);
    std::size_t end = begin;
    while (end < text_.size() && shell::is_name_char(text_[end])) ++end;
    const auto size = sizes_.find(text_.substr(begin, end - begin));
    if (size == sizes_.end()) return false;
    if (is_braced) return braced(end, size->second);
    if (!size->second) return false;
    made_ += *size->second;
    at_ = end;
    return true;
  }

  // `end`: of the name. A variable that the script does not have keeps its default.
  bool braced(std::size_t end, const std::optional<std::string>& size) {
    const std::size_t close = text_.find('}', end);
    if (close == std::string::npos) return false;
    const std::string operation = text_.substr(end, close - end);
    const std::size_t sign = operation.starts_with(":-") ? 2 : operation.starts_with('-') ? 1 : 0;
    const std::string rest = operation.substr(sign);
    const bool is_plain = rest.find_first_of("$`\"'\\{ ") == std::string::npos;
    if (!is_plain || (sign == 0 && (!operation.empty() || !size))) return false;
    made_ += size.value_or(rest);
    at_ = close + 1;
    return true;
  }

  const std::string& text_;
  const ScriptSizes& sizes_;
  std::size_t at_ = 0;
  bool in_arithmetic_ = false;
  std::string made_;
};

std::optional<std::string> asked(const Program& program,
                                 const Draft& draft,
                                 const std::string& name) {
  const auto number = program.settings.count(name) > 0  ? number_in(program.settings, name)
                      : program.dropped.count(name) > 0 ? std::nullopt
                                                        : number_in(draft.settings, name);
  return number ? std::optional(std::to_string(*number)) : std::nullopt;
}

}  // namespace

std::string with_script_sizes(const std::string& text, const ScriptSizes& sizes) {
  return sizes.empty() ? text : SizeWriter(text, sizes).all();
}

void settle_sizes(Program& program, const Draft& draft, const Resolver& resolver) {
  const bool starts_tasks = program.settings.count("launcher") > 0;  // those of the script
  const auto add = [&](const char* name) {
    if (const auto value = resolver.variable(name)) program.sizes[name] = value;
  };
  if (!starts_tasks &&
      program.dropped.count("ntasks") + program.dropped.count("ntasks-per-node") > 0)
    for (const char* name : {"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_PER_NODE"}) add(name);
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
  for (FlatWord& word : program.words)
    for (Segment& one : word)
      if (one.kind == Segment::Kind::source) one.text = with_script_sizes(one.text, program.sizes);
  if (program.source() != before)
    program.notes.emplace_back(
        starts_tasks ? "$SLURM_CPUS_PER_TASK is not set in the script: its default is written in"
                     : "the sizes of the script's job ($SLURM_NTASKS and the like) are written in: "
                       "this job has one process");
}

}  // namespace dts::convert
