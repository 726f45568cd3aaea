// SPDX-License-Identifier: Apache-2.0
#include "core/convert/words/resolve.hpp"

#include "core/base/text/text.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

using Number = std::optional<std::int64_t>;

constexpr int k_deepest = 32;
constexpr std::int64_t k_largest = std::int64_t{1} << 31;

class Calculator {
 public:
  Calculator(std::string_view text, const std::function<Number(const std::string&)>& variable)
      : text_(text), variable_(variable) {}

  Number all() {
    const Number value = sum(0);
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

  Number sum(int depth) {
    Number left = product(depth);
    while (left) {
      const char sign = take("+-");
      if (sign == 0) break;
      const Number right = product(depth);
      if (!right) return std::nullopt;
      left = bounded(sign == '+' ? *left + *right : *left - *right);
    }
    return left;
  }

  Number product(int depth) {
    Number left = factor(depth);
    while (left) {
      const char sign = take("*/%");
      if (sign == 0) break;
      const Number right = factor(depth);
      if (!right || (sign != '*' && *right == 0)) return std::nullopt;
      left = bounded(sign == '*' ? *left * *right : sign == '/' ? *left / *right : *left % *right);
    }
    return left;
  }

  static Number bounded(std::int64_t value) {
    return value > -k_largest && value < k_largest ? Number(value) : std::nullopt;
  }

  Number factor(int depth) {
    if (depth > k_deepest) return std::nullopt;
    if (take("(") != 0) {
      const Number inner = sum(depth + 1);
      return take(")") != 0 ? inner : std::nullopt;
    }
    skip_blanks();
    std::size_t begin = at_;
    if (begin < text_.size() && text_[begin] == '$') ++begin;
    const bool is_braced = begin > at_ && begin < text_.size() && text_[begin] == '{';
    if (is_braced) ++begin;
    std::size_t end = begin;
    while (end < text_.size() && shell::is_name_char(text_[end])) ++end;
    if (end == begin || (is_braced && (end >= text_.size() || text_[end] != '}')))
      return std::nullopt;
    const std::string word(text_.substr(begin, end - begin));
    at_ = end + (is_braced ? 1 : 0);
    if (const auto number = parse_number(word))
      return *number < static_cast<std::uint64_t>(k_largest)
                 ? Number(static_cast<std::int64_t>(*number))
                 : std::nullopt;
    return variable_(word);
  }

  std::string_view text_;
  const std::function<Number(const std::string&)>& variable_;
  std::size_t at_ = 0;
};

std::optional<std::string> in_words(const std::optional<std::uint64_t>& number) {
  return number ? std::optional(std::to_string(*number)) : std::nullopt;
}

}  // namespace

Number arithmetic(std::string_view expression,
                  const std::function<Number(const std::string& name)>& variable) {
  return Calculator(expression, variable).all();
}

std::optional<std::string> Resolver::size(std::string_view name) const {
  if (name == "SLURM_NNODES" || name == "SLURM_JOB_NUM_NODES")
    return std::to_string(job_.nodes.value_or(1));
  if (name == "SLURM_CPUS_PER_TASK") return in_words(job_.cpus_per_task);
  if (name == "SLURM_NTASKS_PER_NODE") return in_words(job_.ntasks_per_node);
  if (name == "SLURM_GPUS_ON_NODE" || name == "SLURM_GPUS_PER_NODE")
    return in_words(job_.gpus_per_node);
  if (name == "SLURM_NTASKS" || name == "SLURM_NPROCS") {
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
  const std::string_view text = source;
  if (text.starts_with("$((") && text.ends_with("))"))
    if (const Number number =
            arithmetic(text.substr(3, text.size() - 5), [this](const std::string& name) -> Number {
              const auto value = variable(name);
              const auto parsed = value ? parse_number(*value) : std::nullopt;
              return parsed && *parsed < static_cast<std::uint64_t>(k_largest)
                         ? Number(static_cast<std::int64_t>(*parsed))
                         : std::nullopt;
            }))
      return std::to_string(*number);
  if (text == "$(pwd)" || text == "`pwd`") return variable("PWD");
  if (!text.starts_with('$')) return std::nullopt;
  const bool is_braced = text.starts_with("${") && text.ends_with('}');
  const std::string_view inner = is_braced ? text.substr(2, text.size() - 3) : text.substr(1);
  const Names names = used_names(text);
  if (names.size() != 1) return std::nullopt;
  const std::string& name = *names.begin();
  if (inner == name) return variable(name);
  // ${NAME:-text}
  const std::string_view operation = inner.substr(std::min(name.size(), inner.size()));
  if (!inner.starts_with(name) || !operation.starts_with(":-")) return std::nullopt;
  if (const auto set = variable(name); set && !set->empty()) return set;
  const std::string_view other = operation.substr(2);
  if (other.find_first_of("$`'\"\\ ") != std::string_view::npos) return std::nullopt;
  return std::string(other);
}

FlatWord Resolver::resolved(const FlatWord& word) const {
  FlatWord all = word;
  for (Segment& one : all) {
    if (one.kind != Segment::Kind::source) continue;
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
