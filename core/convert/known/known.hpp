// SPDX-License-Identifier: Apache-2.0
// The values of a script's variables that are known at conversion, statement by statement:
// literal values, sizes from its #SBATCH lines, and the environment of the submitting
// shell. Pure.
#pragma once

#include "core/convert/words/known_text.hpp"
#include "core/convert/words/names.hpp"
#include "core/convert/words/resolve.hpp"
#include "core/shell/syntax.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::convert {

class Known {
 public:
  // `has_environment`: the job gets the environment that `resolver` looks into.
  Known(const shell::Script& script,
        const Resolver& resolver,
        const std::vector<std::string>& arguments,
        bool has_environment);

  // The statement has been run, once.
  void follow(const shell::Statement& statement);

  void set(const std::string& name, std::string value) { values_[name] = std::move(value); }

  // The number of elements of an array whose elements only the job knows; nullopt: not known.
  void set_count(const std::string& array, std::optional<std::size_t> count) {
    counts_[array] = count;
  }

  // The variables that it may set are no longer known.
  void forget(const SetNames& names);

  [[nodiscard]] KnownText variable(const std::string& name) const;
  // Like text_of().
  [[nodiscard]] KnownText text(const shell::Word& word) const;
  // Expanded as by the shell; nullopt: not known.
  [[nodiscard]] std::optional<std::vector<std::string>> words(
      const std::vector<shell::Word>& words) const;
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view expression) const;

 private:
  enum class Trust { all, own_names, nothing };  // of variables that no line so far has set

  void see(const shell::Command& command);
  [[nodiscard]] std::optional<std::size_t> elements(const std::string& array) const;
  void assign(const shell::Assignment& one);
  [[nodiscard]] bool follow_plain(const shell::Command& command, const SetNames& names);
  void follow_assignments(const shell::Command& command, const SetNames& names);
  void set_defaults(const shell::Command& command, const SetNames& names);

  [[nodiscard]] KnownVariables variables() const {
    return [this](const std::string& name) { return variable(name); };
  }

  [[nodiscard]] std::optional<bool> add_several(const shell::Piece& one,
                                                std::vector<std::string>& words) const;
  [[nodiscard]] bool add_word(const shell::Word& word, std::vector<std::string>& words) const;

  const Resolver& resolver_;
  bool has_environment_;
  bool has_one_folder_;
  Trust trust_ = Trust::all;
  Names own_;       // set by the script, wherever
  Names changing_;  // set by functions of the script, or changed by declare -i
  std::map<std::string, std::optional<std::string>> values_;  // nullopt: set, but not known
  std::map<std::string, std::vector<std::string>> arrays_;
  std::map<std::string, std::optional<std::size_t>> counts_;  // of elements that are not known
  std::size_t spent_ = 0;                                     // bytes of all values so far
};

}  // namespace dts::convert
