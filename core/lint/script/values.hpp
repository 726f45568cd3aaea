// SPDX-License-Identifier: Apache-2.0
// What the words of a script expand to, as far as the script itself says. Pure.
#pragma once

#include "core/shell/syntax.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dts::lint {

// Stands before what is not known: "\x01{SLURM_JOB_ID}" for a variable of the environment,
// "\x01(hostname -i)" for the output of a command, "\x01[RANDOM % 100]" for an expression.
inline constexpr char k_unknown = '\x01';

// Longer values are cut.
inline constexpr std::size_t k_longest_value = std::size_t{16} << 10;

struct Value {
  std::string text;
  // Assigned once, and not under a condition: this is what it is when the script runs.
  bool is_certain = true;

  [[nodiscard]] bool is_known() const { return text.find(k_unknown) == std::string::npos; }

  // Whether it depends on that variable of the environment.
  [[nodiscard]] bool mentions(std::string_view variable) const;
};

// A word of a command; unquoted variables of several words make several.
struct ExpandedWord {
  Value value;
  shell::Span span;         // in the script
  bool is_literal = false;  // nothing was expanded
};

class Variables {
 public:
  void set(const std::string& name, Value value) { values_[name] = std::move(value); }

  void set_array(const std::string& name, std::vector<Value> elements);
  void append_array(const std::string& name, std::vector<Value> elements);
  [[nodiscard]] const Value* find(const std::string& name) const;
  [[nodiscard]] const std::vector<Value>* find_array(const std::string& name) const;

 private:
  std::map<std::string, Value> values_;
  std::map<std::string, std::vector<Value>> arrays_;
};

// `text` is the script that the places refer to.
[[nodiscard]] Value expanded_value(const shell::Word& word,
                                   const Variables& variables,
                                   std::string_view text);

[[nodiscard]] std::vector<ExpandedWord> expand(const shell::Word& word,
                                               const Variables& variables,
                                               std::string_view text);

}  // namespace dts::lint
