// SPDX-License-Identifier: Apache-2.0
// golden_script FOLDER [--bless]: the batch script and plan of known requests against FOLDER's
// files.
#include "core/plan/layout/json.hpp"
#include "core/script/sbatch.hpp"
#include "tests/golden/compare.hpp"

#include <fmt/format.h>

namespace dts {
namespace {

struct Case {
  const char* name;   // of the files
  const char* title;  // their first line
  void (*change)(spec::JobSpec& spec, script::ScriptContext& context);
};

const Case k_cases[] = {
    {"main-job",
     "2 nodes x 8 GPUs, the bundled trainer",
     [](auto& spec, auto&) {
       spec.nodes = 2;
       spec.gpus_per_node = 8;
       spec.partition = "low";
       spec.time = std::chrono::minutes(90);
     }},
    {"smallest",
     "nothing asked but a program",
     [](auto& spec, auto&) {
       spec.job_name.clear();
       spec.command = {"python3", "train.py"};
     }},
    {"everything",
     "every option, set-up lines, no requeue",
     [](auto& spec, auto& context) {
       spec.nodes = 3;
       spec.gpus_per_node = 8;
       spec.ntasks_per_node = 4;
       spec.cpus_per_task = 6;
       spec.partition = "low";
       spec.slurm = {{"account", "proj-1"}, {"comment", "a \"b\" c"}, {"qos", "long"}};
       spec.time = std::chrono::hours(50);
       spec.memory_mib = 64000;
       spec.requeue = false;
       spec.signal_margin = std::chrono::seconds(300);
       spec.frameworks = {"tensorflow", "jax"};
       spec.bind_threads = "intel";
       spec.command = {"./train", "--lr", "0.1"};
       context.setup = {"module purge", "module load cuda/12.4"};
     }},
    {"hostile",
     "names that mean something to sbatch, Slurm's patterns and the shell",
     [](auto& spec, auto& context) {
       spec.partition = "a\"b #c:d";
       spec.slurm["account"] = "it's\\$HOME`x`";
       context.run_dir = "/scratch/my runs/100%j/it's {{sh dtsubmit}} $(x)";
       context.dtsubmit = "/opt/dt submit/bin/dtsubmit";
     }},
    {"short-limit",
     "a limit of 2 minutes lowers the margin",
     [](auto& spec, auto&) { spec.time = std::chrono::minutes(2); }},
};

// What the files of a case should hold, by name.
Result<golden::Files> render(const Case& c) {
  spec::JobSpec spec;
  spec.job_name = "train";
  script::ScriptContext context;
  context.run_dir = "/home/u/runs/train-20261121-0102-ab12";
  context.dtsubmit = "/usr/bin/dtsubmit";
  context.version = "1.2.3";
  c.change(spec, context);
  const auto plan = plan::make_plan(spec, {}, "/usr/bin/dttrain");
  if (!plan) return tl::unexpected(to_error(plan.error()));
  DTS_ASSIGN(const std::string script, script::render_sbatch(spec, *plan, context));
  const std::string title = fmt::format("{}: {}\n", c.name, c.title);
  return golden::Files{{std::string(c.name) + ".sbatch", title + script},
                       {std::string(c.name) + ".plan", title + plan::to_json(*plan)}};
}

int run(const std::string& folder, bool bless) {
  golden::Files all;
  for (const Case& c : k_cases) {
    auto files = render(c);
    if (!files) {
      fmt::print("{}: {}\n", c.name, files.error().message);
      return 1;
    }
    all.insert(all.end(), files->begin(), files->end());
  }
  return golden::compare(folder, all, bless);
}

}  // namespace
}  // namespace dts

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  return dts::run(argv[1], argc > 2 && std::string(argv[2]) == "--bless");
}
