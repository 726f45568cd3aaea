// SPDX-License-Identifier: Apache-2.0
// How a script is taken apart for the rules: its options, its variables, what it starts.
#include "core/lint/script/placeholder.hpp"
#include "core/lint/script/subject.hpp"
#include "tests/support/sbatch_lexer.hpp"

#include <doctest/doctest.h>

using namespace dts;
using namespace dts::lint;

namespace {

std::string value_in(const std::string& script, const char* name) {
  const Header header = read_header(script);
  const Directive* one = find_directive(header, name);
  return one == nullptr ? "-" : one->value;
}

const Run* only_launch(const Subject& subject) {
  const auto all = subject.launches();
  REQUIRE(all.size() == 1);
  return all[0];
}

Subject subject_in(const std::string& text) {
  static std::string kept;  // what a Subject refers to
  kept = text;
  return subject_of(kept, {}, "job.sh");
}

}  // namespace

TEST_CASE("#SBATCH lines are read as sbatch reads them") {
  CHECK(value_in("#!/bin/sh\n#SBATCH --nodes=2\n", "nodes") == "2");
  CHECK(value_in("#SBATCH -N2\n", "nodes") == "2");
  CHECK(value_in("#SBATCH -N 2 -n 4\n", "ntasks") == "4");
  CHECK(value_in("#SBATCH --gpus-per-n=4\n", "gpus-per-node") == "4");
  CHECK(value_in("#SBATCH --comment=\"a b\" --nodes 3 # four\n", "nodes") == "3");
  CHECK(value_in("#SBATCH --comment=a\\ b\n", "comment") == "a b");
  CHECK(value_in("#SBATCH --comment=a#b\n", "comment") == "a");
  CHECK(value_in("#SBATCH --nodes=1\n#SBATCH --nodes=2\n", "nodes") == "2");
  CHECK(value_in("# a comment\n\n  # another\n#SBATCH --nodes=2\n", "nodes") == "2");
  CHECK(value_in("hostname\n#SBATCH --nodes=2\n", "nodes") == "-");
  CHECK(value_in(" #SBATCH --nodes=2\n", "nodes") == "-");
  CHECK(value_in("#SBATCH --time\n#SBATCH 1:00:00\n", "time") == "1:00:00");
  CHECK(value_in("#SBATCH --exclusive --nodes=2\n", "nodes") == "2");
  CHECK(value_in("#SBATCH --nodes=2\n#SBATCH hetjob\n#SBATCH --nodes=4\n", "nodes") == "2");
}

TEST_CASE("the words are those of an independent reading of sbatch's rules") {
  for (const char* line : {"--a=b c",
                           "'a b' \"c d\"",
                           "a#b c",
                           "a '#' b",
                           "\\'a",
                           "'a\\'b'",
                           "\"a'b\"",
                           "",
                           "   ",
                           "--x=\\\\ y"}) {
    CAPTURE(line);
    const std::string script = std::string("#SBATCH ") + line + "\n";
    const auto expected = tests::read_directives(script);
    const Header header = read_header(script);
    const bool is_refused =
        !header.problems.empty() && header.problems[0].kind == HeaderProblem::Kind::unclosed_quote;
    CHECK(is_refused == !expected.has_value());
  }
}

TEST_CASE("the numbers of a job") {
  const Job job =
      job_of(read_header("#SBATCH -N 2 --ntasks-per-node=8 -c 4 --gres=gpu:a100:8,nvme:1 -t "
                         "1-02:00:00 --exclusive\n"));
  CHECK(job.nodes == 2);
  CHECK(job.ntasks_per_node == 8);
  CHECK(job.cpus_per_task == 4);
  CHECK(job.gpus_per_node == 8);
  CHECK(job.time == std::chrono::hours(26));
  CHECK(job.is_exclusive);
  CHECK(job.has_many_nodes());
  CHECK(job.tasks_on_node() == 8);
  CHECK(job_of(read_header("#SBATCH -N 2-4\n")).nodes == std::nullopt);
  CHECK(job_of(read_header("#SBATCH -N 2 -n 3\n")).tasks_on_node() == 2);
  CHECK(gpus_in("gpu", true) == 1);
  CHECK(gpus_in("gpu:2,gpu:v100:1", true) == 3);
  CHECK(gpus_in("gpu:{{ n }}", true) == std::nullopt);
}

TEST_CASE("what a command line starts, and by what") {
  struct {
    const char* line;
    Launcher launcher;
    const char* program;
    bool starts_processes;
  } const cases[] = {
      {"srun python train.py", Launcher::srun, "python", false},
      {"srun -N 2 -c8 --label torchrun --nproc_per_node=8 train.py",
       Launcher::srun,
       "torchrun",
       true},
      {"srun -lu --mpi=pmix --container-image a.sqsh bash train.sh", Launcher::srun, "bash", false},
      {"A=1 srun $ARGS torchrun train.py", Launcher::srun, "torchrun", true},
      {"time mpirun -np 4 --mca btl tcp,self -x PATH ./train", Launcher::mpirun, "train", false},
      {"exec /opt/bin/mpirun --bind-to none python3.11 a.py",
       Launcher::mpirun,
       "python3.11",
       false},
      {"srun singularity exec --nv a.sif python train.py", Launcher::srun, "python", false},
      {"srun -n 4 nsys profile -o x python -m torch.distributed.run a.py",
       Launcher::srun,
       "python",
       true},
      {"srun $HOME/bin/solver -b 5", Launcher::srun, "solver", false},
      {"srun $ARGS ${TOP}/solver in.txt", Launcher::srun, "solver", false},
      {"mpirun $ARGS \"$HOME/solver\" in.txt", Launcher::mpirun, "solver", false},
      {"srun $1 python a.py", Launcher::srun, "python", false},
      {"uv run torchrun a.py", Launcher::none, "torchrun", true},
      {"accelerate launch a.py", Launcher::none, "accelerate", true},
      {"accelerate config", Launcher::none, "accelerate", false},
      {"pdsh -w n1 python a.py", Launcher::other, "python", false},
      {"env A=b python a.py", Launcher::none, "python", false},
      {"echo srun", Launcher::none, "echo", false},
  };

  for (const auto& c : cases) {
    CAPTURE(c.line);
    const Subject subject = subject_in(std::string("#!/bin/bash\n") + c.line + "\n");
    REQUIRE(subject.runs.runs.size() == 1);
    const Launch& launch = subject.runs.runs[0].launch;
    CHECK(launch.launcher == c.launcher);
    CHECK(launch.program == c.program);
    CHECK(launch.starts_processes == c.starts_processes);
  }
}

TEST_CASE("variables are followed, and a script within an argument is read") {
  const Subject subject = subject_in(
      "#!/bin/bash\nPORT=29500\nARGS=(--a \"b c\")\n"
      "LAUNCHER=\"torchrun --nnodes 2 --master_port $PORT\"\n"
      "srun -l bash -c \"$LAUNCHER --node_rank \\$SLURM_PROCID train.py ${ARGS[*]}\"\n");
  const Run* run = only_launch(subject);
  CHECK(run->around.inner == 1);
  CHECK(run->launch.launcher == Launcher::srun);
  CHECK(run->launch.program == "torchrun");
  const auto port = program_option(run->words, run->launch.program_at, "master-port");
  REQUIRE(port);
  CHECK(port->value.text == "29500");
  const auto rank = program_option(run->words, run->launch.program_at, "node-rank");
  REQUIRE(rank);
  CHECK(rank->value.mentions("SLURM_PROCID"));
}

TEST_CASE("what surrounds a command") {
  const Subject subject = subject_in(
      "#!/bin/bash\nif a; then b & fi\nwhile read -r x; do c | d; done\nf() { e; }\n(g) || h\n"
      "i=$(j)\n");
  const auto around = [&](const char* name) {
    for (const Run& run : subject.runs.runs)
      if (run.name() == name) return run.around;
    FAIL(name);
    return Surroundings{};
  };
  CHECK(around("a").is_condition);
  CHECK(around("b").is_background);
  CHECK(around("b").is_conditional);
  CHECK(around("c").is_piped);
  CHECK(around("c").reads_loop_input);
  CHECK_FALSE(around("d").is_piped);
  CHECK(around("e").is_in_function);
  CHECK(around("g").is_in_subshell);
  CHECK(around("g").is_condition);
  CHECK(around("h").is_conditional);
  CHECK(around("j").is_in_substitution);
}

TEST_CASE("a value that is left to fill in, however many brackets it opens") {
  CHECK(is_placeholder("[INSERT ACCOUNT HERE]"));
  CHECK(is_placeholder("#SBATCH --account=[INSERT ACCOUNT HERE] # as you like"));
  CHECK_FALSE(is_placeholder("node[1-4]"));
  CHECK_FALSE(is_placeholder("[a b"));
  for (const char* part : {"out [a b].log", "out [a b]", "[a b].log", "[a b] [c d]"})
    CHECK_FALSE(is_placeholder(part));
  CHECK_FALSE(is_placeholder("#SBATCH --output=\"out [a b].log\" x"));
  for (const char* option : {"account", "partition", "qos", "mail-user"}) {
    CHECK(is_placeholder("[partition-name]", option));
    CHECK(is_placeholder("[A B]", option));
  }
  CHECK_FALSE(is_placeholder("[]", "account"));
  CHECK_FALSE(is_placeholder("[rack]", "constraint"));
  for (const char* option : {"output", "error", "job-name"})
    CHECK_FALSE(is_placeholder("[exp a]", option));
  std::string open;
  while (open.size() < 4'000'000) open += "[a b";
  CHECK_FALSE(is_placeholder(open));
}
