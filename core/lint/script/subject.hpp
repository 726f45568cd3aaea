// SPDX-License-Identifier: Apache-2.0
// A batch script as the rules see it: read once, and examined by all of them. Pure.
#pragma once

#include "core/base/release.hpp"
#include "core/lint/script/header.hpp"
#include "core/lint/script/job.hpp"
#include "core/lint/script/runs.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dts::lint {

// What is known about the machine for which the script is meant.
struct Site {
  std::optional<Release> slurm;  // nullopt: not known; then rules for any release apply
  // Whether a folder exists, relative to where the job is submitted; nullopt: unknown here.
  std::function<std::optional<bool>(const std::string& folder)> folder_exists;
};

struct Subject {
  std::string_view text;
  std::string file_name{};  // without folders; empty: not known
  bool is_shell = true;     // according to its first line; false: only its #SBATCH lines are read
  shell::Script script;
  Header header;
  Job job;
  Runs runs;
  Site site;

  [[nodiscard]] const Directive* directive(std::string_view name) const {
    return find_directive(header, name);
  }

  // Commands that start programs on the job's resources, or that train, in order. If another shell
  // runs the text of an outermost command, the commands of that shell take its place.
  [[nodiscard]] std::vector<const Run*> launches() const;
  // True if the script has a command with that name.
  [[nodiscard]] bool runs_command(std::string_view name) const;
  // True if the word occurs outside of comments, in any case of letters.
  [[nodiscard]] bool says(std::string_view word) const;
  // The first place of `what` within `span`, or otherwise outside of comments; `span` if there is
  // none.
  [[nodiscard]] Span place_of(std::string_view what, Span span) const;

  std::string plain{};  // the text in lower case, with comments replaced by blanks
};

// `text` must outlive it.
[[nodiscard]] Subject subject_of(std::string_view text, Site site, std::string file_name);

// True if the run starts something that takes long: by a launcher, or because it trains.
[[nodiscard]] bool is_launch(const Run& run);

// True if the run is known to be a training: torchrun and the like, or a name such as train.py.
[[nodiscard]] bool is_training(const Run& run);

}  // namespace dts::lint
