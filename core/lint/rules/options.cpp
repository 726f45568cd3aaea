// SPDX-License-Identifier: Apache-2.0
// Options of #SBATCH lines, individually and in combination.
#include "core/base/text/text.hpp"
#include "core/lint/rules/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace dts::lint {
namespace {

bool is_left_to_others(const Subject& subject, const Directive& one) {
  return is_placeholder(line_at(subject.text, one.span.begin)) ||
         one.value.find_first_of("$`=") != std::string::npos;
}

void check_unknown_option(const Subject& subject, Report& report) {
  for (const Directive& one : subject.header.directives) {
    if (one.option != nullptr || is_plugin_option(one.name) || is_srun_option(one.name)) continue;
    if (one.name == "hetjob" || one.name == "packjob") {
      report.add(one.span,
                 fmt::format("sbatch has no option --{}", one.name),
                 "write `#SBATCH hetjob`, on a line between two components");
      continue;
    }
    // A site's plug-ins may add any option, so only likely typos are reported.
    std::string typed = one.name;
    std::replace(typed.begin(), typed.end(), '_', '-');
    const auto similar = one.name == "workdir" ? std::optional<std::string>("chdir")
                         : typed.empty()       ? std::nullopt
                                               : nearest(typed, sbatch_option_names());
    if (similar)
      report.add(one.span,
                 fmt::format("sbatch has no option --{}", one.name),
                 fmt::format("a similar option exists: --{}", *similar));
  }
  for (const HeaderProblem& problem : subject.header.problems)
    if (problem.kind == HeaderProblem::Kind::unknown_letter)
      report.add(problem.span, fmt::format("sbatch has no option {}", problem.word));
}

void check_srun_option_in_header(const Subject& subject, Report& report) {
  for (const Directive& one : subject.header.directives)
    if (one.option == nullptr && is_srun_option(one.name))
      report.add(one.span,
                 fmt::format("--{} is an option of srun: sbatch refuses it", one.name),
                 fmt::format("remove the line, and write `srun --{}` in the script", one.name));
}

void check_duplicate_option(const Subject& subject, Report& report) {
  const auto& all = subject.header.directives;
  for (auto one = all.begin(); one != all.end(); ++one) {
    if (one->option == nullptr || one->option->takes == Takes::nothing) continue;
    if (one->name == "mail-type") continue;  // sbatch adds them up
    const auto later = std::find_if(one + 1, all.end(), [&](const Directive& other) {
      return other.name == one->name && other.component == one->component;
    });
    if (later == all.end() || later->value == one->value) continue;
    report.add(one->span,
               fmt::format("--{} is given again: `{}` counts, `{}` is ignored",
                           one->name,
                           later->value,
                           one->value));
  }
}

// Slurm's spellings of a time, sbatch(1): M, M:S, H:M:S, D-H, D-H:M, D-H:M:S.
bool is_time(const std::string& text) {
  const std::string lower = in_lower_case(text);
  if (lower == "infinite" || lower == "unlimited" || lower == "-1") return true;
  const std::size_t dash = text.find('-');
  const bool has_days = dash != std::string::npos;
  if (has_days && !parse_number(text.substr(0, dash))) return false;
  const auto fields = split(has_days ? text.substr(dash + 1) : text, ':');
  return fields.size() <= 3 && std::all_of(fields.begin(), fields.end(), [](const auto& field) {
           return parse_number(field).has_value();
         });
}

bool is_count(const std::string& text) {
  // 22.05 accepts N and N-M; later releases accept lists with steps, and k for 1,024.
  return !text.empty() && text.find_first_not_of("0123456789-,:kKmM") == std::string::npos &&
         text[0] >= '0' && text[0] <= '9';
}

bool is_memory(const std::string& text) {
  if (in_lower_case(text).starts_with("maxmem")) return true;  // MaxMemPerNode
  const std::size_t end = text.find_first_not_of("0123456789");
  if (end == 0) return false;
  if (end == std::string::npos) return true;
  return std::string_view("kmgtKMGT").find(text[end]) != std::string_view::npos;
}

struct Form {
  std::string_view option;
  bool (*accepts)(const std::string& text);
  const char* example;
};

constexpr Form k_forms[] = {
    {"time", is_time, "minutes, H:M:S or D-H:M:S, e.g. 12:00:00"},
    {"time-min", is_time, "minutes, H:M:S or D-H:M:S, e.g. 12:00:00"},
    {"nodes", is_count, "a number, e.g. 2, or a range, e.g. 2-4"},
    {"ntasks", is_count, "a number, e.g. 8"},
    {"ntasks-per-node", is_count, "a number, e.g. 8"},
    {"cpus-per-task", is_count, "a number, e.g. 8"},
    {"mem", is_memory, "a number with K, M, G or T, e.g. 64G"},
    {"mem-per-cpu", is_memory, "a number with K, M, G or T, e.g. 4G"},
    {"mem-per-gpu", is_memory, "a number with K, M, G or T, e.g. 64G"},
};

void check_bad_value(const Subject& subject, Report& report) {
  for (const Directive& one : subject.header.directives) {
    const auto* const form = std::find_if(std::begin(k_forms),
                                          std::end(k_forms),
                                          [&](const Form& row) { return row.option == one.name; });
    if (form == std::end(k_forms) || is_left_to_others(subject, one)) continue;
    if (!form->accepts(one.value))
      report.add(one.value_span,
                 fmt::format("sbatch refuses --{}: `{}` is not a value of it", one.name, one.value),
                 fmt::format("write {}", form->example));
  }
  for (const HeaderProblem& problem : subject.header.problems)
    if (problem.kind == HeaderProblem::Kind::missing_value)
      report.add(problem.span,
                 fmt::format("sbatch refuses --{}: it has no value", problem.word),
                 "write --name=value");
}

struct Pair {
  std::string_view one, other;
};

constexpr Pair k_exclusive[] = {{"mem", "mem-per-cpu"},
                                {"mem", "mem-per-gpu"},
                                {"mem-per-cpu", "mem-per-gpu"},
                                {"exclusive", "oversubscribe"},
                                {"core-spec", "thread-spec"}};

void check_conflicting_options(const Subject& subject, Report& report) {
  for (const Pair& pair : k_exclusive) {
    const Directive* one = subject.directive(pair.one);
    const Directive* other = subject.directive(pair.other);
    if (one == nullptr || other == nullptr) continue;
    report.add(
        std::max(one->span.begin, other->span.begin) == one->span.begin ? one->span : other->span,
        fmt::format("sbatch refuses --{} together with --{}", pair.one, pair.other));
  }
}

void check_gres_with_gpus_per_node(const Subject& subject, Report& report) {
  const Directive* gres = subject.directive("gres");
  const Directive* per_node = subject.directive("gpus-per-node");
  if (gres != nullptr && per_node != nullptr && gres->value.find("gpu") != std::string::npos)
    report.add(gres->span, "sbatch refuses --gres=gpu together with --gpus-per-node");
}

// First release with --requeue=expedite.
constexpr Release k_requeue_takes_value{25, 11};

void check_option_of_other_release(const Subject& subject, Report& report) {
  const Release slurm = *subject.site.slurm;
  for (const Directive& one : subject.header.directives) {
    if (one.option == nullptr) continue;
    if (slurm < one.option->since)
      report.add(one.span,
                 fmt::format("Slurm {} has no --{}: it came with {}",
                             to_string(slurm),
                             one.name,
                             to_string(one.option->since)));
    else if (one.option->until != Release{} && slurm >= one.option->until)
      report.add(one.span,
                 fmt::format("Slurm {} has no --{} any more: it was removed in {}",
                             to_string(slurm),
                             one.name,
                             to_string(one.option->until)));
    else if (one.name == "requeue" && !one.value.empty() && slurm < k_requeue_takes_value)
      report.add(one.span,
                 fmt::format("--requeue of Slurm {} takes no value: `{}` came with {}",
                             to_string(slurm),
                             one.value,
                             to_string(k_requeue_takes_value)));
  }
}

void check_time_in_minutes(const Subject& subject, Report& report) {
  const Directive* time = subject.directive("time");
  if (time == nullptr) return;
  const auto fields = split(time->value, ':');
  const auto first = parse_number(fields[0]);
  if (!first || fields.size() > 2 || (fields.size() == 2 && fields[1] != "00")) return;
  for (const std::uint64_t hours : {24, 36, 48, 72, 96, 168})
    if (*first == hours)
      report.add(time->value_span,
                 fmt::format("`{}` is {} minutes", time->value, hours),
                 fmt::format("write {}:00:00 for hours", hours));
}

}  // namespace

std::vector<Rule> option_rules() {
  return {
      {.id = "unknown-option",
       .severity = Severity::error,
       .title = "there is no such option of sbatch",
       .reason = "sbatch refuses an option that neither it nor a plug-in of the site knows. Only "
                 "words that look like a misspelt option of sbatch are reported.",
       .fix = "see sbatch(1)",
       .check = check_unknown_option},
      {.id = "srun-option-in-header",
       .severity = Severity::error,
       .title = "an #SBATCH line has an option of srun",
       .reason = "sbatch refuses options that only srun has.",
       .fix = "pass it to srun",
       .check = check_srun_option_in_header},
      {.id = "duplicate-option",
       .severity = Severity::warning,
       .title = "an option is given twice with different values",
       .reason = "The last one counts, and sbatch does not report it.",
       .fix = "remove one of the two",
       .check = check_duplicate_option},
      {.id = "bad-value",
       .severity = Severity::error,
       .title = "an option's value cannot be read by sbatch",
       .reason = "sbatch refuses the script, e.g. for --time=24h or --mem=16.5G.",
       .fix = "see sbatch(1)",
       .check = check_bad_value},
      {.id = "conflicting-options",
       .severity = Severity::error,
       .title = "two options exclude each other",
       .reason = "sbatch refuses the script.",
       .fix = "remove one of the two",
       .check = check_conflicting_options},
      {.id = "gres-with-gpus-per-node",
       .severity = Severity::error,
       .title = "--gres=gpu and --gpus-per-node exclude each other",
       .reason = "Earlier releases accept both; 26.05 refuses them.",
       .fix = "remove --gres=gpu",
       .check = check_gres_with_gpus_per_node,
       .since = {26, 5},
       .needs_release = true},
      {.id = "option-of-other-release",
       .severity = Severity::error,
       .title = "this release of sbatch does not have the option",
       .reason = "Options change between releases; the cluster's sbatch refuses the script.",
       .fix = "remove the line",
       .check = check_option_of_other_release,
       .needs_release = true},
      {.id = "time-in-minutes",
       .severity = Severity::note,
       .title = "a time limit that looks like hours is in minutes",
       .reason = "--time=24 and --time=24:00 are 24 minutes: Slurm reads M and M:S.",
       .fix = "write H:M:S",
       .check = check_time_in_minutes},
  };
}

}  // namespace dts::lint
