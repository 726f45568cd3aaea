// SPDX-License-Identifier: Apache-2.0
// golden_script FOLDER [--bless]: the batch script and plan of known requests against FOLDER's
// files.
#include "core/base/files.hpp"
#include "core/base/text.hpp"
#include "core/plan/json.hpp"
#include "core/script/sbatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

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
       spec.account = "proj-1";
       spec.qos = "long";
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
       spec.account = "it's\\$HOME`x`";
       context.run_dir = "/scratch/my runs/100%j/it's {{sh dtsubmit}} $(x)";
       context.dtsubmit = "/opt/dt submit/bin/dtsubmit";
     }},
    {"short-limit",
     "a limit of 2 minutes lowers the margin",
     [](auto& spec, auto&) { spec.time = std::chrono::minutes(2); }},
};

// What the files of a case should hold, by name.
Result<std::vector<std::pair<std::string, std::string>>> render(const Case& c) {
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
  return std::vector<std::pair<std::string, std::string>>{
      {std::string(c.name) + ".sbatch", title + script},
      {std::string(c.name) + ".plan", title + plan::to_json(*plan)}};
}

// The first line that differs, for the report.
std::string difference(const std::string& expected, const std::string& actual) {
  const auto a = split(expected, '\n'), b = split(actual, '\n');
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string left = i < a.size() ? a[i] : "(end)", right = i < b.size() ? b[i] : "(end)";
    if (left != right)
      return fmt::format("line {}\n  expected: {}\n  rendered: {}", i + 1, left, right);
  }
  return "";
}

int run(const std::string& folder, bool bless) {
  int wrong = 0;
  std::vector<std::string> known;
  for (const Case& c : k_cases) {
    const auto files = render(c);
    if (!files) {
      fmt::print("{}: {}\n", c.name, files.error().message);
      return 1;
    }
    for (const auto& [name, text] : *files) {
      known.push_back(name);
      const auto expected = read_file(folder + "/" + name);
      if (expected && *expected == text) continue;
      if (bless) {
        if (!write_file(folder + "/" + name, text, 0644)) return 1;
        fmt::print("wrote {}\n", name);
        continue;
      }
      ++wrong;
      fmt::print(
          "{}: {}\n", name, expected ? difference(*expected, text) : expected.error().message);
    }
  }
  for (const std::string& name : list_folder(folder))
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      ++wrong;
      fmt::print("{}: no case renders it\n", name);
    }
  if (wrong > 0)
    fmt::print("{} wrong; if they are meant to change: tests/tools/bless.sh, then read the diff\n",
               wrong);
  return wrong > 0 ? 1 : 0;
}

}  // namespace
}  // namespace dts

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  return dts::run(argv[1], argc > 2 && std::string(argv[2]) == "--bless");
}
