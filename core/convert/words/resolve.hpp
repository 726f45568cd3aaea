// SPDX-License-Identifier: Apache-2.0
// Values that a script leaves to variables and that are needed when the job file is made: sizes
// that the #SBATCH lines give, and the environment of the shell that submits. Pure.
#pragma once

#include "core/base/os/environment.hpp"
#include "core/convert/words/flat.hpp"
#include "core/lint/script/job.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dts::convert {

class Resolver {
 public:
  Resolver(const lint::Job& job, Lookup environment)
      : job_(job), environment_(std::move(environment)) {}

  // The word with every source replaced whose value is known.
  [[nodiscard]] FlatWord resolved(const FlatWord& word) const;

  // All of the word's text; nullopt: something in it is not known.
  [[nodiscard]] std::optional<std::string> text(const FlatWord& word) const {
    return plain(resolved(word));
  }

  // "SLURM_NNODES", "HOME"
  [[nodiscard]] std::optional<std::string> variable(const std::string& name) const;

 private:
  [[nodiscard]] std::optional<std::string> value(const std::string& source) const;
  [[nodiscard]] std::optional<std::string> size(std::string_view name) const;

  const lint::Job& job_;
  Lookup environment_;
};

// "4 * (nodes - 1)" with integers, names, + - * / % and parentheses; nullopt for anything else.
[[nodiscard]] std::optional<std::int64_t> arithmetic(
    std::string_view expression,
    const std::function<std::optional<std::int64_t>(const std::string& name)>& variable);

}  // namespace dts::convert
