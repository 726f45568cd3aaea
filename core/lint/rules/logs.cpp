// SPDX-License-Identifier: Apache-2.0
// The files that Slurm writes a job's output to.
#include "core/base/text/text.hpp"
#include "core/lint/rules/facts.hpp"

#include <fmt/format.h>

#include <set>

namespace dts::lint {
namespace {

// "logs" for "logs/%j.out"; empty: the job's own folder.
std::string folder_of(const std::string& pattern) {
  const std::size_t slash = pattern.rfind('/');
  std::string folder = slash == std::string::npos ? "" : pattern.substr(0, slash);
  while (folder.starts_with("./")) folder.erase(0, 2);
  return folder == "." ? "" : folder;
}

bool is_elsewhere(const std::string& folder) {
  return folder == "/dev" || folder == "/tmp" || folder.find_first_of("$~<{") != std::string::npos;
}

bool makes(const Subject& subject, const std::string& folder) {
  for (const Run& run : subject.runs.runs)
    if (base_name(run.name()) == "mkdir")
      for (const ExpandedWord& word : run.words)
        if (word.value.text == folder || word.value.text == "./" + folder) return true;
  return false;
}

// True if the folder contains a field that is unknown before submission, such as %j. %x (the job's
// name) and %u (its user) are known.
bool names_this_job(const std::string& folder) {
  for (std::size_t at = folder.find('%'); at != std::string::npos; at = folder.find('%', at + 1)) {
    const std::size_t letter = folder.find_first_not_of("0123456789", at + 1);
    if (letter != std::string::npos &&
        std::string_view("jJAasNnt").find(folder[letter]) != std::string_view::npos)
      return true;
  }
  return false;
}

// If the folder is not visible here, only a fixed relative name is known to be missing: an absolute
// one may exist on the cluster.
bool is_missing(const Subject& subject, const std::string& folder) {
  if (names_this_job(folder)) return true;
  const auto exists = subject.site.folder_exists && folder.find('%') == std::string::npos
                          ? subject.site.folder_exists(folder)
                          : std::nullopt;
  if (exists) return !*exists;
  return folder[0] != '/';
}

void check_log_folder_missing(const Subject& subject, Report& report) {
  std::set<std::string> seen;
  for (const char* name : {"output", "error"}) {
    const Directive* one = subject.directive(name);
    if (one == nullptr || subject.directive("chdir") != nullptr) continue;
    const std::string folder = folder_of(one->value);
    if (folder.empty() || is_elsewhere(folder) || !seen.insert(folder).second) continue;
    if (!is_missing(subject, folder)) continue;
    const std::string hint =
        names_this_job(folder)
            ? std::string("write into a folder that is there before the job starts")
            : fmt::format("mkdir -p {} before sbatch", shell_quote(folder));
    report.add(
        one->value_span,
        makes(subject, folder)
            ? fmt::format("Slurm opens this file before the script makes the folder `{}`", folder)
            : fmt::format("the job fails without a word if the folder `{}` does not exist", folder),
        hint);
  }
}

bool appends(const Subject& subject) {
  const Directive* mode = subject.directive("open-mode");
  return mode != nullptr && mode->value.starts_with('a');
}

bool is_written(const Directive* output) {
  return output != nullptr && !output->value.empty() && !output->value.starts_with("/dev/") &&
         output->value.find_first_of("$`<{") == std::string::npos;
}

void check_log_shared_by_array(const Subject& subject, Report& report) {
  const Directive* output = subject.directive("output");
  if (!subject.job.is_array || !is_written(output)) return;
  // %j and %J also differ between elements.
  for (const char* pattern : {"a", "j", "J", "t", "N", "n"})
    for (std::size_t at = output->value.find('%'); at != std::string::npos;
         at = output->value.find('%', at + 1)) {
      const std::size_t letter = output->value.find_first_not_of("0123456789", at + 1);
      if (letter != std::string::npos && output->value[letter] == pattern[0]) return;
    }
  report.add(output->value_span, "all elements of the array write to this one file");
}

void check_log_overwritten(const Subject& subject, Report& report) {
  const Directive* output = subject.directive("output");
  if (!is_written(output) || subject.job.is_array || appends(subject)) return;
  if (output->value.find('%') == std::string::npos)
    report.add(output->value_span, "the next job of this script overwrites this file");
}

void check_log_lost_on_requeue(const Subject& subject, Report& report) {
  if (appends(subject)) return;
  const Directive* output = subject.directive("output");
  if (output != nullptr && output->value.find("%r") != std::string::npos) return;  // since 25.11
  const Directive* asked = subject.directive("requeue");
  const Run* own = own_requeue(subject);
  if (asked == nullptr && own == nullptr) return;
  report.add(asked != nullptr ? asked->span : own->span,
             "each time the job is requeued, Slurm empties its log",
             "",
             {line_before_commands(subject, "#SBATCH --open-mode=append")});
}

}  // namespace

std::vector<Rule> log_rules() {
  return {
      {.id = "log-folder-missing",
       .severity = Severity::warning,
       .title = "the folder of the job's log may not exist",
       .reason = "Slurm before 23.02 does not create the folder of --output and --error: the job "
                 "fails at once, and no file says why. A mkdir in the script comes too late. A "
                 "folder that exists on this machine is not reported.",
       .fix = "create the folder before you run sbatch",
       .check = check_log_folder_missing,
       .until = {23, 2}},
      {.id = "log-shared-by-array",
       .severity = Severity::warning,
       .title = "all elements of an array write to one log",
       .reason = "Each element opens the file again, so they overwrite each other.",
       .fix = "add %A_%a to --output",
       .check = check_log_shared_by_array},
      {.id = "log-overwritten",
       .severity = Severity::note,
       .title = "the log's name is the same for every job",
       .reason = "The log of a job is lost when the next one starts, and two jobs that run at the "
                 "same time write to one file.",
       .fix = "add %j to --output",
       .check = check_log_overwritten},
      {.id = "log-lost-on-requeue",
       .severity = Severity::warning,
       .title = "a requeued job empties its log",
       .reason = "Slurm opens the same file again and truncates it, unless the site sets "
                 "JobFileAppend: the log no longer shows why the previous attempt ended.",
       .fix = "#SBATCH --open-mode=append",
       .check = check_log_lost_on_requeue,
       .can_fix = true},
  };
}

}  // namespace dts::lint
