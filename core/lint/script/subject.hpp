// SPDX-License-Identifier: Apache-2.0
// A batch script as the rules see it: read once, looked at by all. Pure.
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

// What is known of the machine that the script is for.
struct Site {
  std::optional<Release> slurm;  // nullopt: not known; then no release is ruled out
  // Whether a folder exists, relative to where the job is submitted; nullopt: cannot be told here.
  std::function<std::optional<bool>(const std::string& folder)> folder_exists;
};

struct Subject {
  std::string_view text;
  std::string file_name{};  // without folders; empty: not known
  bool is_shell = true;     // by its first line; false: only its #SBATCH lines are read
  shell::Script script;
  Header header;
  Job job;
  Runs runs;
  Site site;

  [[nodiscard]] const Directive* directive(std::string_view name) const {
    return find_directive(header, name);
  }

  // Commands that start programs over the job's resources or train, in order; outermost commands
  // whose text is run by another shell are left out in favour of what that shell runs.
  [[nodiscard]] std::vector<const Run*> launches() const;
  // Whether a command of that name is there.
  [[nodiscard]] bool runs_command(std::string_view name) const;
  // Whether the word occurs outside of comments, whatever the case of its letters.
  [[nodiscard]] bool says(std::string_view word) const;
  // The first place of `what` within `span`, or outside of comments; `span` if there is none.
  [[nodiscard]] Span place_of(std::string_view what, Span span) const;

  std::string plain{};  // the text in lower case, comments blanked out
};

// `text` must outlive it.
[[nodiscard]] Subject subject_of(std::string_view text, Site site, std::string file_name);

// The run starts something that takes long: by a launcher, or a trainer.
[[nodiscard]] bool is_launch(const Run& run);

// True where the run is known to be training: torchrun and the like, or a name such as train.py.
[[nodiscard]] bool is_training(const Run& run);

}  // namespace dts::lint
