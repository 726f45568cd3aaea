// SPDX-License-Identifier: Apache-2.0
#include "core/convert/words/resolve.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/words/known_text.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

using MaybeNumber = std::optional<std::int64_t>;

constexpr int k_deepest = 32;
constexpr std::int64_t k_largest = std::int64_t{1} << 31;

class Calculator {
 public:
  Calculator(std::string_view text, const std::function<MaybeNumber(const std::string&)>& variable)
      : text_(text), variable_(variable) {}

  MaybeNumber all() {
    const MaybeNumber value = sum(0);
    skip_blanks();
    return at_ == text_.size() ? value : std::nullopt;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  // One of `signs`, which is passed over; 0: another character.
  char take(std::string_view signs) {
    skip_blanks();
    if (at_ >= text_.size() || signs.find(text_[at_]) == std::string_view::npos) return 0;
    return text_[at_++];
  }

  MaybeNumber sum(int depth) {
    MaybeNumber left = product(depth);
    while (left) {
      const char sign = take("+-");
      if (sign == 0) break;
      const MaybeNumber right = product(depth);
      if (!right) return std::nullopt;
      left = bounded(sign == '+' ? *left + *right : *left - *right);
    }
    return left;
  }

  MaybeNumber product(int depth) {
    MaybeNumber left = factor(depth);
    while (left) {
      const char sign = take("*/%");
      if (sign == 0) break;
      const MaybeNumber right = factor(depth);
      if (!right || (sign != '*' && *right == 0)) return std::nullopt;
      left = bounded(sign == '*' ? *left * *right : sign == '/' ? *left / *right : *left % *right);
    }
    return left;
  }

  static MaybeNumber bounded(std::int64_t value) {
    return value > -k_largest && value < k_largest ? MaybeNumber(value) : std::nullopt;
  }

  MaybeNumber factor(int depth) {
    if (depth > k_deepest) return std::nullopt;
    if (take("(") != 0) {
      const MaybeNumber inner = sum(depth + 1);
      return take(")") != 0 ? inner : std::nullopt;
    }
    skip_blanks();
    std::size_t begin = at_;
    if (begin < text_.size() && text_[begin] == '$') ++begin;
    const bool is_braced = begin > at_ && begin < text_.size() && text_[begin] == '{';
    if (is_braced) ++begin;
    const bool counts = is_braced && text_.substr(begin).starts_with('#');  // ${#NAME[@]}
    const std::size_t name = begin + (counts ? 1 : 0);
    std::size_t end = name;
    while (end < text_.size() && shell::is_name_char(text_[end])) ++end;
    if (end == name) return std::nullopt;
    if (counts) return elements(begin, end);
    if (is_braced && (end >= text_.size() || text_[end] != '}')) return std::nullopt;
    const std::string word(text_.substr(begin, end - begin));
    at_ = end + (is_braced ? 1 : 0);
    if (const auto number = parse_number(word))
      return *number < static_cast<std::uint64_t>(k_largest)
                 ? MaybeNumber(static_cast<std::int64_t>(*number))
                 : std::nullopt;
    return variable_(word);
  }

  // #NAME from `begin` to `end`, with [@]} behind it.
  MaybeNumber elements(std::size_t begin, std::size_t end) {
    for (const std::string_view all : {"[@]}", "[*]}"})
      if (text_.substr(end).starts_with(all)) {
        at_ = end + all.size();
        return variable_(std::string(text_.substr(begin, end - begin)));
      }
    return std::nullopt;
  }

  std::string_view text_;
  const std::function<MaybeNumber(const std::string&)>& variable_;
  std::size_t at_ = 0;
};

std::optional<std::string> in_words(const std::optional<std::uint64_t>& number) {
  return number ? std::optional(std::to_string(*number)) : std::nullopt;
}

}  // namespace

MaybeNumber arithmetic(std::string_view expression,
                       const std::function<MaybeNumber(const std::string& name)>& variable) {
  return Calculator(expression, variable).all();
}

std::optional<std::string> Resolver::size(std::string_view name) const {
  if (name == "SLURM_NNODES" || name == "SLURM_JOB_NUM_NODES")
    return std::to_string(job_.nodes.value_or(1));
  if (name == "SLURM_CPUS_PER_TASK") return in_words(job_.cpus_per_task);
  if (name == "SLURM_NTASKS_PER_NODE") return in_words(job_.ntasks_per_node);
  if (name == "SLURM_GPUS_ON_NODE" || name == "SLURM_GPUS_PER_NODE")
    return in_words(job_.gpus_per_node);
  if (name == "SLURM_SUBMIT_DIR") return variable("PWD");
  if (name == "SLURM_NTASKS" || name == "SLURM_NPROCS") {
    if (job_.ntasks_per_gpu) return std::nullopt;
    if (job_.ntasks) return in_words(job_.ntasks);
    if (job_.ntasks_per_node) return std::to_string(job_.nodes.value_or(1) * *job_.ntasks_per_node);
    return std::to_string(job_.nodes.value_or(1));
  }
  return std::nullopt;
}

std::optional<std::string> Resolver::variable(const std::string& name) const {
  if (name.starts_with("SLURM_")) return size(name);
  return environment_ ? environment_(name.c_str()) : std::nullopt;
}

std::optional<std::string> Resolver::value(const std::string& source) const {
  const auto word = word_in(source);
  if (!word || word->pieces.size() != 1) return std::nullopt;
  const shell::Piece& piece = word->pieces[0];
  const bool is_variable = piece.kind == shell::Piece::Kind::parameter && piece.operation.empty();
  if (is_variable) return variable(piece.text);
  const bool takes_unset = piece.kind == shell::Piece::Kind::parameter;
  const KnownText known = text_of(*word, [&](const std::string& name) -> KnownText {
    if (const auto found = variable(name)) return {KnownText::Kind::exact, *found};
    const bool is_unset = takes_unset && environment_ && !name.starts_with("SLURM") &&
                          shell::is_name_begin(name.empty() ? '0' : name[0]);
    return is_unset ? KnownText{KnownText::Kind::exact, "", false} : KnownText{};
  });
  return known.is_exact() ? std::optional(known.text) : std::nullopt;
}

FlatWord Resolver::resolved(const FlatWord& word) const {
  FlatWord all = word;
  for (Segment& one : all) {
    if (one.kind != Segment::Kind::source || one.is_of_script) continue;
    const auto known = value(one.text);
    // Several words, or none at all, are left to a shell.
    if (!known ||
        (!one.quoted && (known->empty() || known->find_first_of(" \t\n*?[") != std::string::npos)))
      continue;
    one = {Segment::Kind::literal, *known, true};
  }
  return all;
}

}  // namespace dts::convert
