// SPDX-License-Identifier: Apache-2.0
// A batch script as a job file: what it holds, and that each line is accounted for.
#include "core/convert/convert.hpp"

#include "core/lint/script/header.hpp"
#include "core/shell/parse.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

using namespace dts;
using namespace dts::convert;

namespace {

Options with(std::map<std::string, std::string> variables,
             std::vector<std::string> arguments = {}) {
  return {"job.sh", std::move(arguments), [variables](const std::string& name) {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional(found->second);
          }};
}

std::string job_of(const std::string& body, const Options& options = with({})) {
  return convert_script("#!/bin/bash\n" + body, options).job_file;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The row of the line's first byte.
Row row_of(const Conversion& made, const std::string& text, const std::string& line) {
  const std::size_t at = text.find(line);
  REQUIRE(at != std::string::npos);
  for (const Row& row : made.rows)
    for (const Span& span : row.spans)
      if (span.begin <= at && at < span.end) return row;
  FAIL(line << " is in no row");
  return {};
}

constexpr const char* k_torchrun =
    "#!/bin/bash\n"
    "#SBATCH --nodes=2 --ntasks-per-node=1\n"
    "#SBATCH --gres=gpu:8\n"
    "#SBATCH --cpus-per-task=96\n"
    "export NCCL_DEBUG=WARN\n"
    "GPUS=8\n"
    "MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)\n"
    "MASTER_PORT=6000\n"
    "trap 'echo stop' USR1\n"
    "LAUNCHER=\"torchrun --nproc_per_node $GPUS --nnodes $SLURM_NNODES --rdzv_backend c10d \\\n"
    "  --rdzv_endpoint $MASTER_ADDR:$MASTER_PORT --max_restarts 0\"\n"
    "srun --kill-on-bad-exit=1 bash -c \"$LAUNCHER --node_rank \\$SLURM_PROCID train.py --lr 0.1\" "
    "| tee log\n"
    "echo END\n";

}  // namespace

TEST_CASE("torchrun on several nodes becomes its program, without what dtsubmit tells it") {
  const std::string text = k_torchrun;
  const Conversion made = convert_script(text, with({}));
  CHECK(made.is_lossless());
  CHECK(
      has(made.job_file,
          "command = [\"torchrun\", \"--max_restarts\", \"0\", \"train.py\", \"--lr\", \"0.1\"]"));
  CHECK(has(made.job_file, "nodes = 2\n"));
  CHECK(has(made.job_file, "launcher = \"srun\""));
  CHECK(has(made.job_file, "export NCCL_DEBUG=WARN"));
  CHECK_FALSE(has(made.job_file, "MASTER"));
  CHECK(row_of(made, text, "MASTER_ADDR=").became == Became::unnecessary);
  CHECK(row_of(made, text, "trap").became == Became::unnecessary);
  CHECK(row_of(made, text, "GPUS=8").became == Became::program);
  CHECK(row_of(made, text, "export NCCL").became == Became::set_up);
  CHECK(row_of(made, text, "--gres").became == Became::option);
}

TEST_CASE("arguments are those that the shell makes of the words") {
  CHECK(has(job_of("srun prog 'a b' \"c'd\" e\\ f\n"), R"(["prog", "a b", "c'd", "e f"])"));
  CHECK(has(job_of("A='x  y'\nsrun prog \"$A\" $A z$A\n"),
            R"(["prog", "x  y", "x", "y", "zx", "y"])"));
  CHECK(has(job_of("A=(--one \"t w\")\nA+=(three)\nsrun prog \"${A[@]}\"\n"),
            R"(["prog", "--one", "t w", "three"])"));
  CHECK(has(job_of("srun prog \\\n  --x 1 \\\n  --y\n"), R"(["prog", "--x", "1", "--y"])"));
  // Patterns and variables of the environment are left to a shell, on each rank.
  CHECK(has(job_of("srun prog *.bin '*.bin' \"$HOME/x\"\n"),
            "exec prog *.bin '*.bin' \\\"$HOME\\\"/x"));
  CHECK(has(job_of("srun prog $SLURM_PROCID\n"), "exec prog $SLURM_PROCID"));
}

TEST_CASE("values that only the job knows are computed by the set-up, and exported") {
  const std::string job = job_of("NAME=run-$(date +%s)\nsrun prog --name $NAME\n");
  CHECK(has(job, "NAME=run-$(date +%s)"));
  CHECK(has(job, "export NAME"));
  CHECK(has(job, "exec prog --name $NAME"));
  const std::string arrays = job_of("if [ -d / ]; then A=(1 2); fi\nsrun prog \"${A[@]}\"\n");
  CHECK(has(arrays, "declare -p A"));
  CHECK(has(arrays, "eval \"$SCRIPT_STATE\""));
  // A later line changes what an earlier value was made of.
  const std::string changed = job_of("A=$B\nB=2\nsrun prog $A\n");
  CHECK(has(changed, "exec prog $A"));
}

TEST_CASE("a folder that the script changes to is the program's") {
  CHECK(has(job_of("cd /data/project\nsrun prog\n"), "chdir = \"/data/project\""));
  const std::string later = job_of("source ./env.sh\ncd \"$PROJECT\"\nsrun prog\n");
  CHECK(has(later, "export SCRIPT_FOLDER=$PWD"));
  CHECK(has(later, "cd \\\"${SCRIPT_FOLDER:?}\\\" || exit") == false);
  CHECK(has(later, "cd \"${SCRIPT_FOLDER:?}\" || exit"));
  CHECK_FALSE(has(job_of("cd $SLURM_SUBMIT_DIR\nsrun prog\n"), "chdir"));
}

TEST_CASE("a script's own lines are run on the first node, and what may set up a shell on each") {
  const std::string body =
      "#SBATCH -N 2 --ntasks-per-node=2\n"
      "source env.sh\nprepare_all\n./unpack data\nif [ ! -d w ]; then wget x; fi\n"
      "if true; then module load a; pip install b; fi\nmkdir -p logs\nsrun prog\n"
      "srun --ntasks-per-node=1 cp a /tmp\ncp -r logs /archive\n";
  const std::string text = "#!/bin/bash\n" + body;
  const Conversion made = convert_script(text, with({}));
  const auto guarded = [&](const std::string& line) {
    return has(made.job_file, "if on_first_node; then\n" + line);
  };
  for (const char* const line : {"./unpack data", "if [ ! -d w ]", "cp -r logs"}) {
    CAPTURE(std::string(line));
    CHECK(guarded(line));
    CHECK(row_of(made, text, line).why.ends_with("on the first node only, as in the script"));
  }
  CHECK_FALSE(guarded("if true"));
  CHECK(row_of(made, text, "if true").why == "on each node; the script runs it on the first only");
  // A function of env.sh, or a program.
  CHECK(has(made.job_file,
            "if [[ $(type -t prepare_all) == *function* ]] || on_first_node; then\nprepare_all"));
  CHECK(row_of(made, text, "prepare_all").why.ends_with("or on each if it is a function"));
  for (const char* const line : {"source env.sh", "mkdir -p logs", "cp a /tmp"}) {
    CAPTURE(std::string(line));
    CHECK_FALSE(guarded(line));
    CHECK(has(made.job_file, line));
  }
  CHECK(row_of(made, text, "mkdir").why.empty());
  CHECK_FALSE(has(job_of("./unpack data\nsrun prog\n"), "on_first_node"));
}

TEST_CASE("a command that cannot be a function runs on the first node only") {
  const auto is_guarded = [](const std::string& first, const std::string& before) {
    const std::string text = first + "\n#SBATCH -N 2\n" + before + "prepare -f x\nsrun prog\n";
    return has(convert_script(text, with({})).job_file, "if on_first_node; then\nprepare -f x");
  };
  CHECK(is_guarded("#!/bin/bash", "module load a\nsource v/bin/activate\n"));
  CHECK(is_guarded("#!/bin/bash -l", ""));
  CHECK_FALSE(is_guarded("#!/bin/bash", "source env.sh\n"));
  CHECK_FALSE(is_guarded("#!/bin/bash", "source ~/.bashrc\n"));
  CHECK_FALSE(is_guarded("#!/bin/bash", "prepare() { export A=$1; }\n"));
  const std::string leaves =
      "#!/bin/bash\n#SBATCH -N 2\nsource v/bin/activate\ndeactivate\nsrun prog\n";
  CHECK_FALSE(has(convert_script(leaves, with({})).job_file, "on_first_node; then\ndeactivate"));
  const std::string login = "#!/bin/bash -l\n#SBATCH -N 2\nuse_gpus\nsrun prog\n";
  CHECK(has(convert_script(login, with({})).job_file, "type -t use_gpus"));
}

TEST_CASE("times and random numbers that a script takes once are the same in all ranks") {
  const std::string date = "date() { command date -d \"@$DTSUBMIT_RUN_BEGAN\" \"$@\"; }\n";
  const std::string random = "RANDOM=$DTSUBMIT_RUN_BEGAN\n";
  const std::string text =
      "#!/bin/bash\n#SBATCH -N 2 --ntasks-per-node=2\nNAME=run_$(date +\"%F\")_$RANDOM\n"
      "TMP=$(mktemp -d)\nsrun python prog --name $NAME --tmp $TMP --at $(date -u +%s) --pid $$\n";
  const Conversion made = convert_script(text, with({}));
  CHECK(made.is_lossless());
  CHECK(has(made.job_file, "\n" + date + random + "NAME="));
  CHECK(has(made.job_file, date + "exec python prog"));
  CHECK(has(row_of(made, text, "NAME=").why, "the same in all ranks and attempts"));
  CHECK(has(row_of(made, text, "TMP=").why, "mktemp: each node computes its own"));
  CHECK(has(row_of(made, text, "srun python").why, "the same in all ranks and attempts"));
  CHECK(has(row_of(made, text, "srun python").why, "$$: each rank computes its own"));
  const std::string copies = "#!/bin/bash\ncp $0 out/\nsrun prog\n";
  CHECK(has(row_of(convert_script(copies, with({})), copies, "cp").why, "not the script"));
  // Durations, and other times than now.
  CHECK_FALSE(has(job_of("A=$(date +%s)\nprep $A\nB=$(date +%s)\nsrun prog $A $B\n"), "date()"));
  CHECK_FALSE(has(job_of("A=$(date -d tomorrow +%F)\nsrun prog $A\n"), "date()"));
  CHECK_FALSE(has(row_of(made, text, "srun python").why, "python"));
}

TEST_CASE("here-documents stay as they are") {
  const std::string text = "cat > c.json <<EOF\n{\"a\": \"$HOME\"}\nEOF\nsrun prog c.json\n";
  const Conversion made = convert_script("#!/bin/bash\n" + text, with({}));
  CHECK(made.is_lossless());
  CHECK(has(made.job_file, "cat > c.json <<EOF || true\n{\"a\": \"$HOME\"}\nEOF\n"));
  CHECK(row_of(made, "#!/bin/bash\n" + text, "{\"a\"").became == Became::set_up);
}

TEST_CASE("containers, mpirun and several programs") {
  const std::string pyxis = job_of(
      "srun --container-image=nvcr.io#nvidia/pytorch:24.01-py3 --container-mounts=$PWD:/w python "
      "t.py\n",
      with({{"PWD", "/home/u"}}));
  CHECK(has(pyxis, "container = [\"nvcr.io#nvidia/pytorch:24.01-py3\"]"));
  CHECK(has(pyxis, "container_runtime = \"pyxis\""));
  CHECK(has(pyxis, "/home/u:/w"));
  const std::string mpi = job_of("#SBATCH -N 2\nmpirun -np 4 --map-by ppr:2:node -x A=1 ./prog\n");
  CHECK(has(mpi, "launcher = \"mpirun\""));
  CHECK(has(mpi, "ntasks = 4"));
  CHECK(has(mpi, R"(["env", "A=1", "./prog"])"));
  const std::string steps = job_of("srun -n 1 python prepare.py\nsrun python train.py\n");
  CHECK(has(steps, "[[steps]]\n"));
  CHECK(has(steps, "name = \"train\""));
}

TEST_CASE("a variable before the launcher that is empty or echo is a dry run's") {
  const std::string head = "#SBATCH -N 2\n#SBATCH --ntasks-per-node 4\n";
  const std::string dry = "DRY=\nif [ -f dry ]; then DRY=echo; fi\n";
  for (const std::string& script :
       {head + dry + "${DRY} srun ./a.out\n", head + "$DRY mpirun -np 8 ./a.out\n"}) {
    const std::string made = job_of(script);
    CHECK(has(made, "ntasks_per_node = 4"));
    CHECK(has(made, "command = [\"./a.out\"]"));
  }
  const std::string text = "#!/bin/bash\nif [ -f x ]; then W=./wrap; fi\n$W srun ./a.out\n";
  CHECK(row_of(convert_script(text, with({})), text, "$W").became == Became::lost);
  CHECK(has(job_of("A=${A:-x}\nEXE=${A}/bin/a.out\nsrun $EXE $OPTS\n"), "/bin/a.out $OPTS"));
}

TEST_CASE("a value that a command of the job computes asks only for variables that are not known") {
  const std::string text =
      "#!/bin/bash\nsrun --container-image=i --container-mounts=$(list ${PWD}:/w $MORE) prog\n";
  const auto why = [&](const std::map<std::string, std::string>& environment) {
    return row_of(convert_script(text, with(environment)), text, "srun").why;
  };
  CHECK(has(why({{"PWD", "/home/u"}}), "set MORE and convert again"));
  CHECK(
      has(why({{"PWD", "/home/u"}, {"MORE", "/d"}}), "its value is known only in the job's shell"));
}

TEST_CASE("what is lost is named, and is not in the job file") {
  const std::string text =
      "#!/bin/bash\n#SBATCH --nodes=0\n#SBATCH --bogus=1\nfor i in *; do srun prog $i; done\n";
  const Conversion made = convert_script(text, with({}));
  CHECK_FALSE(made.is_lossless());
  for (const char* line : {"--nodes", "--bogus", "for i"}) {
    CAPTURE(line);
    const Row row = row_of(made, text, line);
    CHECK(row.became == Became::lost);
    CHECK_FALSE(row.why.empty());
  }
  CHECK(convert_script("#!/bin/bash\ncd only\n", with({})).job_file.empty());
  const Conversion needs =
      convert_script("#!/bin/bash\nsrun --container-image=$IMG prog\n", with({}));
  CHECK(needs.needs == std::vector<std::string>{"IMG"});
  CHECK(convert_script("#!/bin/bash\nsrun --container-image=$IMG prog\n", with({{"IMG", "/i.sif"}}))
            .is_lossless());
}

TEST_CASE("a script that only prints has its last line as the program") {
  CHECK(has(job_of("echo only\n"), "command = [\"echo\", \"only\"]"));
  CHECK(has(job_of("echo begin\nsleep 20\necho end\n"), "command = [\"sleep\", \"20\"]"));
  CHECK(has(job_of("nvidia-smi\npython a.py\nhostname\n"), "command = [\"python\", \"a.py\"]"));
}

TEST_CASE("arguments of the script are known") {
  CHECK(has(job_of("srun prog $1 \"${2:-b}\" \"$@\"\n", with({}, {"x y"})),
            R"(["prog", "x", "y", "b", "x y"])"));
}

TEST_CASE("it is said that a script's arguments are empty where its program gets them all") {
  const auto is_noted = [](const std::string& line, const Options& options = with({})) {
    const Conversion made = convert_script("#!/bin/bash\n" + line + "\n", options);
    CHECK(made.is_lossless());
    return std::any_of(made.rows.begin(), made.rows.end(), [](const Row& row) {
      return row.why.find("\"$@\" is empty") != std::string::npos;
    });
  };
  CHECK(is_noted("srun prog \"$@\""));
  CHECK(is_noted("srun prog $*"));
  CHECK_FALSE(is_noted("srun prog \"$@\"", with({}, {"x"})));
  CHECK_FALSE(is_noted("srun prog ${1:-x}"));
}

TEST_CASE("every line is in one row, and every job file is one that dtsubmit accepts") {
  for (const std::string& text :
       {std::string(k_torchrun),
        std::string("#!/bin/bash\nif [ a ]; then\n srun p\nfi\n} stray\ncat <<E\nx\n"),
        std::string("#!/bin/sh\nsrun a &\nsrun b &\nwait\n~\n"),
        std::string("#!/usr/bin/env python3\n#SBATCH -n 2\nprint(1)\n"),
        std::string("#!/bin/bash\r\n#SBATCH -N 2\r\nsrun p\r\n"),
        std::string("a\nb a; do srun b; done\n"),
        std::string("f() { srun p \"$@\"; }\n"),
        std::string("f() { srun p \"$@\"; }\nf 1\nf 2\n")}) {
    CAPTURE(text);
    const Conversion made = convert_script(text, with({}));
    if (!made.job_file.empty()) CHECK(problems_of_job_file(made.job_file).empty());
    std::vector<int> covered(text.size());
    for (const Row& row : made.rows)
      if (row.became == Became::unnecessary) CHECK_FALSE(row.why.empty());
    for (const Row& row : made.rows)
      for (const Span& span : row.spans)
        for (std::size_t i = span.begin; i < span.end; ++i) ++covered[i];
    CHECK(std::all_of(covered.begin(), covered.end(), [](int count) { return count <= 1; }));
    const bool is_shell = !has(text, "python3");
    const auto script = shell::parse(is_shell ? text : "");
    for (const std::size_t line :
         lines_to_account(text, script.comments, lint::read_header(text).end)) {
      if (!is_shell && line == 1) continue;
      std::size_t begin = 0;
      for (std::size_t i = 1; i < line; ++i) begin = text.find('\n', begin) + 1;
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      CAPTURE(text.substr(begin, end - begin));
      CHECK(std::any_of(covered.begin() + static_cast<std::ptrdiff_t>(begin),
                        covered.begin() + static_cast<std::ptrdiff_t>(end),
                        [](int count) { return count > 0; }));
    }
  }
}
