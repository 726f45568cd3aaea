// SPDX-License-Identifier: Apache-2.0
// Variables, and setting up a job's environment.
#include "core/base/text/text.hpp"
#include "core/lint/rules/facts.hpp"
#include "core/lint/tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace dts::lint {
namespace {

struct Setting {
  std::string_view name, value;
  const char* effect;
};

constexpr Setting k_debug[] = {
    {"NCCL_DEBUG", "INFO", "every rank writes pages at each start"},
    {"NCCL_DEBUG", "TRACE", "every rank writes a line for each call"},
    {"RCCL_DEBUG", "INFO", "every rank writes pages at each start"},
    {"TORCH_DISTRIBUTED_DEBUG", "DETAIL", "every collective is checked by another one before it"},
    {"TORCH_DISTRIBUTED_DEBUG", "INFO", "every rank writes more at each start"},
    {"TORCH_CPP_LOG_LEVEL", "INFO", "every rank writes more"},
};

constexpr Setting k_slow[] = {
    {"CUDA_LAUNCH_BLOCKING", "1", "kernels run one by one, and the GPU waits for the processor"},
    {"HIP_LAUNCH_BLOCKING", "1", "kernels run one by one, and the GPU waits for the processor"},
    {"AMD_SERIALIZE_KERNEL", "3", "kernels run one by one, and the GPU waits for the processor"},
};

constexpr Setting k_network[] = {
    {"NCCL_P2P_DISABLE", "1", "GPUs of a node do not copy to each other directly"},
    {"NCCL_IB_DISABLE", "1", "InfiniBand and RoCE are not used"},
    {"NCCL_SHM_DISABLE", "1", "ranks of a node do not use shared memory"},
    {"NCCL_NET", "Socket", "the fast network is not used"},
    {"NCCL_P2P_LEVEL", "LOC", "GPUs of a node do not copy to each other directly"},
    {"NCCL_SOCKET_IFNAME", "lo", "nodes cannot reach each other"},
    {"GLOO_SOCKET_IFNAME", "lo", "nodes cannot reach each other"},
};

template <std::size_t N>
void check_settings(const Setting (&settings)[N],
                    const Subject& subject,
                    Report& report,
                    std::string_view harmless = "") {
  for (const Assigned& one : subject.runs.assigned)
    for (const Setting& setting : settings)
      if (one.name == setting.name && one.name != harmless && one.is_literal &&
          in_lower_case(trim(one.value.text)) == in_lower_case(setting.value) &&
          (setting.value != "lo" || subject.job.has_many_nodes()))
        report.add(one.span, fmt::format("{}={}: {}", one.name, setting.value, setting.effect));
}

void check_debug_left_on(const Subject& subject, Report& report) {
  // Scripts that measure the network need to see what it does.
  for (const char* measurement : {"_perf", "nccl-tests", "nsys", "shmem"})
    if (subject.says(measurement)) return;
  check_settings(k_debug, subject, report);
}

void check_kernels_one_by_one(const Subject& subject, Report& report) {
  check_settings(k_slow, subject, report);
}

// NCCL_IB_DISABLE turns off InfiniBand's verbs, but not NCCL's plug-in for libfabric.
bool uses_efa(const Subject& subject) {
  const auto& assigned = subject.runs.assigned;
  return std::any_of(assigned.begin(), assigned.end(), [](const Assigned& one) {
    return (one.name == "FI_PROVIDER" && trim(one.value.text) == "efa") ||
           one.name.starts_with("FI_EFA_");
  });
}

void check_network_limited(const Subject& subject, Report& report) {
  check_settings(k_network, subject, report, uses_efa(subject) ? "NCCL_IB_DISABLE" : "");
}

struct Renamed {
  const char* name;
  const char* now;
  bool is_same;  // the new name has the same value wherever it is used
};

constexpr Renamed k_renamed[] = {
    {"SLURM_JOBID", "SLURM_JOB_ID", true},
    {"SLURM_NPROCS", "SLURM_NTASKS", true},
    {"SLURM_NODELIST", "SLURM_JOB_NODELIST", false},
    {"NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_ASYNC_ERROR_HANDLING", false},
    {"NCCL_BLOCKING_WAIT", "TORCH_NCCL_BLOCKING_WAIT", false},
    {"torch.distributed.launch", "torchrun", false},
};

// The places of a whole word, except in comments.
std::vector<Span> places_of(const Subject& subject, std::string_view word) {
  std::vector<Span> places;
  const std::string lower = in_lower_case(word);
  for (std::size_t at = subject.plain.find(lower); at != std::string::npos;
       at = subject.plain.find(lower, at + 1)) {
    const std::size_t end = at + word.size();
    const bool is_whole = (at == 0 || !shell::is_name_char(subject.text[at - 1])) &&
                          (end == subject.text.size() || !shell::is_name_char(subject.text[end]));
    // A variable of Slurm counts only where it is used: $NAME, ${NAME}.
    const bool is_used = !word.starts_with("SLURM_") ||
                         (at > 0 && (subject.text[at - 1] == '$' || subject.text[at - 1] == '{'));
    if (is_whole && is_used && subject.text.substr(at, word.size()) == word)
      places.push_back({at, end});
  }
  return places;
}

void check_obsolete_name(const Subject& subject, Report& report) {
  for (const Renamed& one : k_renamed) {
    const auto places = places_of(subject, one.name);
    if (places.empty()) continue;
    Finding& finding = report.add(places.front(),
                                  fmt::format("`{}` is an old name", one.name),
                                  fmt::format("write {}", one.now));
    if (one.is_same)
      for (const Span& place : places) finding.edits.push_back({place, one.now});
  }
}

void check_token_in_script(const Subject& subject, Report& report) {
  for (const Token& token : find_tokens(subject.text))
    report.add({token.begin, token.end}, token.what + " is written in the script").hides_source =
        true;
}

// True for a command that may make `conda activate` work.
bool may_set_up_conda(const Run& run) {
  const std::string name = base_name(run.name());
  if (name == "source" || name == "." || name == "eval" || name == "module" || name == "ml")
    return true;
  return (name == "conda" || name == "mamba" || name == "micromamba") && run.words.size() > 1 &&
         run.words[1].value.text == "init";
}

void check_conda_not_set_up(const Subject& subject, Report& report) {
  const std::string_view first = subject.text.substr(0, subject.text.find('\n'));
  if (first.find(" -") != std::string_view::npos && first.find("bash") != std::string_view::npos &&
      (first.find('l', first.find(" -")) != std::string_view::npos ||
       first.find('i', first.find(" -")) != std::string_view::npos))
    return;  // a login shell, or an interactive one
  for (const Run& run : subject.runs.runs) {
    if (may_set_up_conda(run)) return;
    if (run.around.inner > 0 || run.words.size() < 2) continue;
    if (base_name(run.name()) != "conda" || run.words[1].value.text != "activate") continue;
    report.add(run.span, "conda refuses to activate: a batch script does not read ~/.bashrc");
    return;
  }
}

}  // namespace

std::vector<Rule> environment_rules() {
  return {
      {.id = "debug-left-on",
       .severity = Severity::note,
       .title = "diagnostics are left on",
       .reason = "They slow down the start or each step, and hide the lines that matter.",
       .fix = "remove it once the fault is found",
       .check = check_debug_left_on,
       .reads_lines = true},
      {.id = "kernels-one-by-one",
       .severity = Severity::warning,
       .title = "kernels run one by one",
       .reason = "These settings are for debugging: a training takes much longer.",
       .fix = "remove it once the fault is found",
       .check = check_kernels_one_by_one,
       .reads_lines = true},
      {.id = "network-limited",
       .severity = Severity::warning,
       .title = "a fast path between GPUs is turned off",
       .reason = "It was set to work around a fault of one machine, and slows down every other "
                 "one, often by ten times and more.",
       .fix = "remove it, and measure: `dtsubmit check` names slow links",
       .check = check_network_limited,
       .reads_lines = true},
      {.id = "obsolete-name",
       .severity = Severity::note,
       .title = "a variable or a program has a new name",
       .reason = "Old names still work, until a release removes them.",
       .fix = "use the new name",
       .check = check_obsolete_name,
       .can_fix = true,
       .reads_lines = true},
      {.id = "token-in-script",
       .severity = Severity::warning,
       .title = "a secret is written in the script",
       .reason = "Slurm stores scripts, `scontrol show job` and repositories show them, and logs "
                 "with `set -x` repeat them.",
       .fix = "revoke it, keep the new one in a file of mode 0600, and read that file",
       .check = check_token_in_script,
       .reads_any_text = true},
      {.id = "conda-not-set-up",
       .severity = Severity::error,
       .title = "`conda activate` does not work in a batch script by itself",
       .reason = "`conda init` writes its function into ~/.bashrc, which only interactive shells "
                 "read: conda fails with `Your shell has not been properly configured`, and the "
                 "script continues with another Python.",
       .fix = "eval \"$(conda shell.bash hook)\" before it",
       .check = check_conda_not_set_up,
       .reads_lines = true},
  };
}

}  // namespace dts::lint
