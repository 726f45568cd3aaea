// SPDX-License-Identifier: Apache-2.0
// What the words of a script expand to, as far as the script itself shows. Pure.
#pragma once

#include "core/shell/syntax.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dts::lint {

// Marks what is not known: "\x01{SLURM_JOB_ID}" for a variable of the environment, "\x01(hostname
// -i)" for a command's output, "\x01[RANDOM % 100]" for an expression.
inline constexpr char k_unknown = '\x01';

// Longer values are truncated.
inline constexpr std::size_t k_longest_value = std::size_t{16} << 10;

struct Value {
  std::string text;
  // True if it is assigned once and unconditionally, so that this is its value when the script
  // runs.
  bool is_certain = true;

  [[nodiscard]] bool is_known() const { return text.find(k_unknown) == std::string::npos; }

  // True if the value depends on this variable of the environment.
  [[nodiscard]] bool mentions(std::string_view variable) const;
};

// A word of a command. An unquoted variable whose value has several words becomes several.
struct ExpandedWord {
  Value value;
  shell::Span span;         // in the script
  bool is_literal = false;  // contains no expansion
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

// `text` is the script to which the places refer.
[[nodiscard]] Value expanded_value(const shell::Word& word,
                                   const Variables& variables,
                                   std::string_view text);

[[nodiscard]] std::vector<ExpandedWord> expand(const shell::Word& word,
                                               const Variables& variables,
                                               std::string_view text);

}  // namespace dts::lint
