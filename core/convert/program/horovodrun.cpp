// SPDX-License-Identifier: Apache-2.0
#include "core/convert/program/horovodrun.hpp"

#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::convert {
namespace {

// horovod/runner/launch.py
constexpr std::string_view k_flags_of_horovodrun[] = {"-v",
                                                      "--version",
                                                      "-cb",
                                                      "--check-build",
                                                      "--disable-cache",
                                                      "--verbose",
                                                      "--hierarchical-allreduce",
                                                      "--no-hierarchical-allreduce",
                                                      "--hierarchical-allgather",
                                                      "--no-hierarchical-allgather",
                                                      "--torus-allreduce",
                                                      "--no-torus-allreduce",
                                                      "--autotune",
                                                      "--no-autotune",
                                                      "--timeline-mark-cycles",
                                                      "--no-timeline-mark-cycles",
                                                      "--stall-check",
                                                      "--no-stall-check",
                                                      "--mpi-threads-disable",
                                                      "--no-mpi-threads-disable",
                                                      "--tcp",
                                                      "--log-with-timestamp",
                                                      "--log-without-timestamp",
                                                      "-prefix-timestamp",
                                                      "--prefix-output-with-timestamp",
                                                      "--log-hide-timestamp",
                                                      "--no-log-hide-timestamp",
                                                      "--gloo",
                                                      "--mpi",
                                                      "--jsrun"};
// Their values may look like programs: --output-filename ./out.
constexpr std::string_view k_valued_of_horovodrun[] = {"-np",
                                                       "--num-proc",
                                                       "--start-timeout",
                                                       "--network-interfaces",
                                                       "--network-interface",
                                                       "--output-filename",
                                                       "--config-file",
                                                       "-p",
                                                       "--ssh-port",
                                                       "-i",
                                                       "--ssh-identity-file",
                                                       "--fusion-threshold-mb",
                                                       "--cycle-time-ms",
                                                       "--cache-capacity",
                                                       "--autotune-log-file",
                                                       "--autotune-warmup-samples",
                                                       "--autotune-steps-per-sample",
                                                       "--autotune-bayes-opt-max-samples",
                                                       "--autotune-gaussian-process-noise",
                                                       "--min-np",
                                                       "--min-num-proc",
                                                       "--max-np",
                                                       "--max-num-proc",
                                                       "--slots-per-host",
                                                       "--elastic-timeout",
                                                       "--reset-limit",
                                                       "--blacklist-cooldown-range",
                                                       "--timeline-filename",
                                                       "--stall-check-warning-time-seconds",
                                                       "--stall-check-shutdown-time-seconds",
                                                       "--mpi-args",
                                                       "--binding-args",
                                                       "--num-nccl-streams",
                                                       "--thread-affinity",
                                                       "--gloo-timeout-seconds",
                                                       "--log-level",
                                                       "-H",
                                                       "--hosts",
                                                       "-hostfile",
                                                       "--hostfile",
                                                       "--host-discovery-script"};

// The variables that horovodrun makes of these for the program
// (horovod/runner/common/util/config_parser.py).
struct HandedOn {
  std::string_view option;
  std::string_view variable;
  std::string_view value;  // empty: the option's
};

constexpr HandedOn k_handed_on[] = {
    {"cycle-time-ms", "HOROVOD_CYCLE_TIME", ""},
    {"cache-capacity", "HOROVOD_CACHE_CAPACITY", ""},
    {"hierarchical-allreduce", "HOROVOD_HIERARCHICAL_ALLREDUCE", "1"},
    {"no-hierarchical-allreduce", "HOROVOD_HIERARCHICAL_ALLREDUCE", "0"},
    {"hierarchical-allgather", "HOROVOD_HIERARCHICAL_ALLGATHER", "1"},
    {"no-hierarchical-allgather", "HOROVOD_HIERARCHICAL_ALLGATHER", "0"},
    {"torus-allreduce", "HOROVOD_TORUS_ALLREDUCE", "1"},
    {"no-torus-allreduce", "HOROVOD_TORUS_ALLREDUCE", "0"},
    {"autotune", "HOROVOD_AUTOTUNE", "1"},
    {"autotune-log-file", "HOROVOD_AUTOTUNE_LOG", ""},
    {"autotune-warmup-samples", "HOROVOD_AUTOTUNE_WARMUP_SAMPLES", ""},
    {"autotune-steps-per-sample", "HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE", ""},
    {"autotune-bayes-opt-max-samples", "HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES", ""},
    {"autotune-gaussian-process-noise", "HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE", ""},
    {"timeline-filename", "HOROVOD_TIMELINE", ""},
    {"timeline-mark-cycles", "HOROVOD_TIMELINE_MARK_CYCLES", "1"},
    {"no-stall-check", "HOROVOD_STALL_CHECK_DISABLE", "1"},
    {"stall-check", "HOROVOD_STALL_CHECK_DISABLE", "0"},
    {"stall-check-warning-time-seconds", "HOROVOD_STALL_CHECK_TIME_SECONDS", ""},
    {"stall-check-shutdown-time-seconds", "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS", ""},
    {"mpi-threads-disable", "HOROVOD_MPI_THREADS_DISABLE", "1"},
    {"no-mpi-threads-disable", "HOROVOD_MPI_THREADS_DISABLE", "0"},
    {"num-nccl-streams", "HOROVOD_NUM_NCCL_STREAMS", ""},
    {"tcp", "NCCL_IB_DISABLE", "1"},
    {"thread-affinity", "HOROVOD_THREAD_AFFINITY", ""},
    {"gloo-timeout-seconds", "HOROVOD_GLOO_TIMEOUT_SECONDS", ""},
    {"log-level", "HOROVOD_LOG_LEVEL", ""},
    {"log-with-timestamp", "HOROVOD_LOG_HIDE_TIME", "0"},
    {"no-log-hide-timestamp", "HOROVOD_LOG_HIDE_TIME", "0"},
    {"log-without-timestamp", "HOROVOD_LOG_HIDE_TIME", "1"},
    {"log-hide-timestamp", "HOROVOD_LOG_HIDE_TIME", "1"}};

constexpr std::string_view k_hosts_of_horovodrun[] = {"-H", "--hosts", "-hostfile", "--hostfile"};

std::string without_dashes(const std::string& option) {
  return option.substr(std::min(option.find_first_not_of('-'), option.size()));
}

// "-H" of $HOSTS that only the job's shell knows, and that the script sets to hosts; of other
// options, the first that is none of hosts. Empty: it holds no options.
std::string first_option_in(const FlatWord& word, const lint::Runs& runs) {
  if (word.size() != 1 || word[0].kind != Segment::Kind::source || word[0].quoted) return "";
  const Names names = used_names(word[0].text);
  std::string hosts;
  for (const lint::Assigned& one : runs.assigned) {
    if (names.count(one.name) == 0) continue;
    std::string text = one.value.text;
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
    for (const std::string& part : split(text, ' ')) {
      if (!part.starts_with('-')) continue;
      hosts = part.substr(0, part.find('='));
      if (!is_one_of(k_hosts_of_horovodrun, hosts)) return hosts;
    }
  }
  return hosts;
}

bool looks_like_program(const std::string& word) {
  return lint::is_python(lint::base_name(word)) || word.ends_with(".py") || word.ends_with(".sh") ||
         word.starts_with("./");
}

// `hidden`: the option in a variable, `word`, that only the job's shell knows.
void add_hidden(const std::string& hidden, const FlatWord& word, HorovodrunWords& made) {
  if (is_one_of(k_hosts_of_horovodrun, hidden))
    made.options.push_back({without_dashes(hidden), "", {}});
  else
    made.losses.push_back(fmt::format("horovodrun: options in {} are known only in the job's shell",
                                      to_source({word})));
}

constexpr std::uint64_t k_most_mb = std::uint64_t{1} << 30;

// "HOROVOD_AUTOTUNE=1"; empty: it makes none of the option.
std::string variable_of(const lint::LaunchOption& option) {
  if (option.name == "fusion-threshold-mb")
    if (const auto mb = parse_number(option.value); mb && *mb <= k_most_mb)
      return fmt::format("HOROVOD_FUSION_THRESHOLD={}", *mb * 1024 * 1024);
  const auto handed = std::find_if(std::begin(k_handed_on),
                                   std::end(k_handed_on),
                                   [&](const HandedOn& one) { return one.option == option.name; });
  if (handed == std::end(k_handed_on)) return "";
  return fmt::format(
      "{}={}", handed->variable, handed->value.empty() ? option.value : handed->value);
}

// Moves the options that become variables, and those that should but cannot.
void take_variables(HorovodrunWords& made) {
  std::erase_if(made.options, [&made](const lint::LaunchOption& option) {
    const std::string variable = variable_of(option);
    const bool is_lost = option.name == "fusion-threshold-mb" || option.name == "config-file";
    if (!variable.empty())
      made.variables.push_back(variable);
    else if (is_lost)
      made.losses.push_back(fmt::format(
          "horovodrun --{}: its value is known only in the job: set the variables HOROVOD_* that "
          "horovodrun makes of it",
          option.name));
    return !variable.empty() || is_lost;
  });
}

void lose_unknown(const std::string& option, const std::string& next, HorovodrunWords& made) {
  if (!next.starts_with('-'))
    made.losses.push_back(fmt::format(
        "horovodrun: {} is no option that dtsubmit knows: write {}=VALUE if it has a value",
        option,
        option));
}

}  // namespace

HorovodrunWords horovodrun_words(const std::vector<FlatWord>& words,
                                 std::size_t at,
                                 const lint::Runs& runs) {
  HorovodrunWords made;
  const std::vector<lint::ExpandedWord> expanded = to_expanded(words);
  // Its own options end at the first word that is none.
  for (++at; at < words.size(); ++at) {
    if (const std::string hidden = first_option_in(words[at], runs); !hidden.empty()) {
      add_hidden(hidden, words[at], made);
      continue;
    }
    const std::string& word = expanded[at].value.text;
    if (!word.starts_with('-')) break;
    const std::string name = without_dashes(word);
    const std::size_t equals = name.find('=');
    if (is_one_of(k_flags_of_horovodrun, word) || equals != std::string::npos) {
      made.options.push_back(
          {name.substr(0, equals), equals == std::string::npos ? "" : name.substr(equals + 1), {}});
      continue;
    }
    const std::string next = at + 1 < words.size() ? expanded[at + 1].value.text : "";
    if (!is_one_of(k_valued_of_horovodrun, word)) {
      lose_unknown(word, next, made);
      if (next.starts_with('-') || looks_like_program(next)) {
        made.options.push_back({name, "", {}});
        continue;
      }
    }
    made.options.push_back({name, next, {}});
    at += word == "--blacklist-cooldown-range" ? 2 : 1;
  }
  made.command_at = std::min(at, words.size());
  take_variables(made);
  return made;
}

}  // namespace dts::convert
