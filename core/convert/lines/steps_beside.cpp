// SPDX-License-Identifier: Apache-2.0
#include "core/convert/lines/steps_beside.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/lines/effects.hpp"
#include "core/lint/lint.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>

namespace dts::convert {
namespace {

using lint::Launcher;
using VerdictKind = Verdict::Kind;

constexpr const char* k_names_of_nodes = "scontrol show hostnames \"$SLURM_JOB_NODELIST\"";

const std::string* value_of(const lint::Launch& step,
                            std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const lint::LaunchOption* option = step.option(name)) return &option->value;
  return nullptr;
}

bool is_number_of_nodes(const std::string& text) {
  return text.find("SLURM_NNODES") != std::string::npos ||
         text.find("SLURM_JOB_NUM_NODES") != std::string::npos;
}

// hostname, hostname -s
bool prints_name_of_node(const lint::Run& run) {
  const std::size_t at = run.launch.program_at;
  return run.launch.program == "hostname" && run.launch.option("label") == nullptr &&
         std::all_of(run.words.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                     run.words.end(),
                     [](const lint::ExpandedWord& word) {
                       return word.value.text == "-s" || word.value.text == "--short";
                     });
}

class StepReader {
 public:
  StepReader(const Item& item, const lint::Job& job)
      : item_(item), job_(job), writes_(writes_file(item)), edits_(1) {}

  void read() {
    for (const lint::Run* run : item_.runs)
      if (is_step(*run)) own(*run);
    for (const lint::Run* run : item_.inside)
      if (is_step(*run) && run->around.inner == 0 && prints_name_of_node(*run)) names(*run);
  }

  [[nodiscard]] const std::string& loss() const { return loss_; }

  [[nodiscard]] std::string text() const {
    const std::string source = item_.source.substr(0, item_.source.size() - item_.tail.size());
    return edits_[0].edits.empty() ? "" : lint::apply_edits(source, edits_);
  }

 private:
  [[nodiscard]] static bool is_step(const lint::Run& run) {
    return run.launch.launcher == Launcher::srun || run.launch.launcher == Launcher::mpirun;
  }

  void own(const lint::Run& run) {
    const lint::Launch& step = run.launch;
    if (step.option("container-image") != nullptr || step.option("container-name") != nullptr)
      return lose("a step in a container beside the program: write it as one of [[steps]]");
    if ((writes_ || run.around.is_piped) && prints_name_of_node(run)) return names(run);
    if (writes_ && (job_.has_many_nodes() || tasks_of(step, job_) != StepTasks::one))
      return lose("all tasks of the step write one file: write it as one of [[steps]]");
    if (step.launcher_at >= run.words.size() || step.command_at >= run.words.size())
      return lose(k_beside);
    cut(run.words[step.launcher_at].span.begin, run.words[step.command_at].span.begin, "");
  }

  // What all tasks print goes to one place.
  void names(const lint::Run& run) {
    const StepTasks tasks = tasks_of(run.launch, job_);
    if (tasks == StepTasks::more)
      return lose(
          "names each node once per task, and a set-up can start no step; `scontrol show "
          "hostnames` "
          "names each node once");
    const std::string first = tasks == StepTasks::one ? " | head -n 1" : "";
    cut(run.words[run.launch.launcher_at].span.begin,
        run.words.back().span.end,
        k_names_of_nodes + first);
  }

  void cut(std::size_t from, std::size_t to, const std::string& instead) {
    const Span& span = item_.span();
    if (from < span.begin || to > span.end || from >= to) return lose(k_beside);
    edits_[0].edits.push_back({{from - span.begin, to - span.begin}, instead});
  }

  void lose(const std::string& why) {
    if (loss_.empty()) loss_ = why;
  }

  static constexpr const char* k_beside = "a step beside the program: write it as one of [[steps]]";

  const Item& item_;
  const lint::Job& job_;
  bool writes_;
  std::string loss_;
  std::vector<lint::Finding> edits_;
};

}  // namespace

StepTasks tasks_of(const lint::Launch& step, const lint::Job& job) {
  if (step.has_unknown_options) return StepTasks::more;
  const bool is_srun = step.launcher == Launcher::srun;
  const std::string* of_nodes = is_srun ? value_of(step, {"nodes"}) : nullptr;
  const std::string* of_all =
      is_srun ? value_of(step, {"ntasks"}) : value_of(step, {"n", "np", "c", "num-proc"});
  const std::string* on_each =
      is_srun ? value_of(step, {"ntasks-per-node"}) : value_of(step, {"N", "npernode", "ppn"});
  const auto nodes = of_nodes != nullptr && !is_number_of_nodes(*of_nodes)
                         ? parse_number(*of_nodes)
                         : std::optional<std::uint64_t>(job.nodes.value_or(1));
  if (!nodes) return StepTasks::more;
  std::optional<std::uint64_t> tasks;
  if (of_all != nullptr)
    tasks = is_number_of_nodes(*of_all) ? nodes : parse_number(*of_all);
  else if (const auto each = on_each != nullptr ? parse_number(*on_each) : job.tasks_on_node())
    tasks = *each * *nodes;
  if (tasks == 1U) return StepTasks::one;
  return tasks == nodes ? StepTasks::one_on_each_node : StepTasks::more;
}

void settle_steps(const Item& item, const lint::Job& job, Verdict& verdict) {
  if (verdict.kind != VerdictKind::kept && verdict.kind != VerdictKind::if_needed) return;
  StepReader reader(item, job);
  reader.read();
  verdict.step_loss = reader.loss();
  if (verdict.step_loss.empty()) verdict.text = reader.text();
}

}  // namespace dts::convert
