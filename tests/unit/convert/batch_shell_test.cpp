// SPDX-License-Identifier: Apache-2.0
// What the shell of a batch script does before the ranks see anything of it: its arguments, its
// environment, the values that it expands, and where srun finds a program.
#include "core/convert/convert.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace dts;
using namespace dts::convert;

namespace {

constexpr const char* k_two_nodes =
    "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=4\n"
    "#SBATCH --cpus-per-task=8\n";

struct Made {
  std::string text;
  Conversion conversion;

  [[nodiscard]] bool says(const std::string& part) const {
    return conversion.job_file.find(part) != std::string::npos;
  }

  // What the account says of the line that begins so, and what became of it.
  [[nodiscard]] const Row& row(const std::string& line) const {
    const std::size_t at = text.find("\n" + line) + 1;
    REQUIRE(at > 0);
    for (const Row& row : conversion.rows)
      for (const Span& span : row.spans)
        if (span.begin <= at && at < span.end) return row;
    FAIL(line << " is in no row");
    return conversion.rows.front();
  }

  [[nodiscard]] Became became(const std::string& line) const { return row(line).became; }

  [[nodiscard]] bool explains(const std::string& line, const std::string& part) const {
    return row(line).why.find(part) != std::string::npos;
  }
};

// Of a job of two nodes.
Made made_of_script(const std::string& body, const std::vector<std::string>& arguments = {}) {
  const std::string text = k_two_nodes + body;
  const std::map<std::string, std::string> environment{{"HOME", "/home/u"}, {"PWD", "/work"}};
  const auto look_up = [environment](const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  };
  return {text, convert_script(text, {"job.sh", arguments, look_up})};
}

}  // namespace

TEST_CASE("\"$@\" without arguments is no word") {
  for (const char* const body : {"srun prog \"$@\"\n",
                                 "srun prog \"$@$@\"\n",
                                 "srun prog $@ \"${@}\"\n",
                                 "ALL=(\"$@\")\nsrun prog \"${ALL[@]}\" ${ALL[@]}\n"}) {
    CAPTURE(std::string(body));
    CHECK(made_of_script(body).says("command = [\"prog\"]"));
  }
  // bash(1): a pair of quotes beside it is a word.
  CHECK(made_of_script("srun prog \"$@\"\"\" a\"$@\" ''\n").says(R"(["prog", "", "a", ""])"));
  CHECK(made_of_script("srun prog \"$@\" \"x $@ y\"\n", {"a b", "c"})
            .says(R"(["prog", "a b", "c", "x a b", "c y"])"));
}

TEST_CASE("shift and set change what the arguments are") {
  const std::string shifts = "CFG=$1\nshift\nsrun python train.py --config $CFG \"$@\"\n";
  const Made made = made_of_script(shifts, {"a.yaml", "--lr", "1"});
  CHECK(made.conversion.is_lossless());
  CHECK(made.says(R"(["python", "train.py", "--config", "a.yaml", "--lr", "1"])"));
  CHECK(made_of_script("shift 2 || true\nsrun prog $# $1 ${2:-z} \"$@\"\n", {"a", "b", "c"})
            .says(R"(["prog", "1", "c", "z", "c"])"));
  CHECK(made_of_script("shift 4\nsrun prog \"$@\"\n", {"a"}).says(R"(["prog", "a"])"));
  CHECK(made_of_script("A=x\nset -- -v $A\nset -o pipefail\nsrun prog \"$@\" \"$*\"\n", {"a"})
            .says(R"("job.sh", "-v", "x"])"));
  // A function has arguments of its own.
  CHECK(made_of_script("f() { shift; }\nf a\nsrun prog \"$@\"\n", {"a"}).says(R"(["prog", "a"])"));
}

TEST_CASE("arguments that only the script's shell knows come from the set-up") {
  const std::string loop =
      "while [ $# -gt 0 ]; do case $1 in -c) C=$2; shift 2;; *) shift;; esac; done\n";
  const Made made = made_of_script(loop + "srun prog --config $C \"$@\"\n", {"-c", "x"});
  CHECK(made.conversion.is_lossless());
  CHECK(made.explains("srun", "`shift` or `set`"));
  CHECK(made.says("set -- -c x\n"));
  CHECK(made.says("eval \"$SCRIPT_STATE\"\nexec prog --config $C \"$@\"''']"));
  // Those that a program leaves are lost.
  CHECK(made_of_script("if [ -f x ]; then srun a; shift; fi\nsrun prog \"$@\"\n", {"a", "b"})
            .became("srun prog") == Became::lost);
  CHECK(made_of_script(loop + "srun prog --config $C\n", {"-c", "x"}).conversion.is_lossless());
  CHECK(made_of_script(loop + "srun prog --config $C \"$@\"\n").conversion.is_lossless());
  CHECK(made_of_script("eval set -- \"$O\"\nsrun prog \"$@\"\n").says("exec prog \"$@\""));
}

TEST_CASE("programs that share a world are lost") {
  for (const char* const line : {"srun ./serve --port 5 : ./train --steps 4\n",
                                 "srun --het-group=0 ./serve : --het-group=1 ./train\n",
                                 "mpirun -np 1 ./serve : -np 3 ./train\n"}) {
    CAPTURE(line);
    const Made made = made_of_script(line);
    CHECK(made.became(std::string(line).substr(0, 4)) == Became::lost);
    CHECK(made.explains(std::string(line).substr(0, 4), "[[roles]]"));
  }
  CHECK(made_of_script("srun prog --host a:b :c\n").conversion.is_lossless());
}

TEST_CASE("assignments that change the environment without export are kept") {
  for (const char* const line : {"PATH=$HOME/bin:$PATH",
                                 "LD_LIBRARY_PATH=/opt/nccl:$LD_LIBRARY_PATH",
                                 "PYTHONPATH=$PWD/src",
                                 "SLURM_CPU_BIND=none",
                                 "declare -x FOO=1",
                                 "typeset -rx FOO=1"}) {
    CAPTURE(std::string(line));
    const Made made = made_of_script(std::string(line) + "\nsrun prog\n");
    CHECK(made.became(line) == Became::set_up);
    CHECK(made.says(line));
  }
  // It need not be in the environment.
  CHECK(made_of_script("VIRTUAL_ENV=$(find_env)\nsrun $VIRTUAL_ENV/bin/python\n")
            .says("export VIRTUAL_ENV\n"));
  const Made all = made_of_script("set -o allexport\nMODE=a\nset -x\nset +a\nOTHER=b\nsrun prog\n");
  CHECK(all.became("MODE=a") == Became::set_up);
  CHECK(all.became("OTHER=b") == Became::unnecessary);
  CHECK(made_of_script("declare -r FOO=1\nsrun prog\n").became("declare") == Became::unnecessary);
}

TEST_CASE("the name of the script's node is the same for all ranks") {
  for (const char* const name :
       {"$HOSTNAME", "${SLURMD_NODENAME}", "$(hostname -s)", "`hostname`"}) {
    CAPTURE(std::string(name));
    CHECK(made_of_script("srun prog --head " + std::string(name) + "\n")
              .says("exec prog --head $MASTER_ADDR"));
    CHECK(made_of_script("H=" + std::string(name) + " srun prog\n").says("$MASTER_ADDR"));
    CHECK(made_of_script("HEAD=" + std::string(name) + "\nsrun prog $HEAD\n")
              .says("exec prog $MASTER_ADDR"));
  }
  // Here the ranks themselves expand it.
  const Made inner = made_of_script("srun bash -c 'prog $HOSTNAME $SLURM_PROCID'\n");
  CHECK(inner.says("exec prog $HOSTNAME $SLURM_PROCID"));
  CHECK_FALSE(inner.explains("srun", "HOSTNAME"));
  CHECK_FALSE(inner.explains("srun", "SLURM_PROCID"));
  const Made rank = made_of_script("srun prog $SLURM_PROCID\n");
  CHECK(rank.explains("srun", "SLURM_PROCID: each rank has its own"));
  const Made log = made_of_script("export LOG=$HOSTNAME.log\nsrun prog\n");
  CHECK(log.explains("export LOG", "its node's name or address becomes that of the first node"));
  const Made text = made_of_script("T='prog $SLURM_PROCID'\nsrun other\nsrun bash -c \"$T\"\n");
  CHECK_FALSE(text.explains("T=", "SLURM_PROCID"));
}

TEST_CASE("srun finds programs in the current folder") {
  CHECK(made_of_script("srun train.sh a.sh\n").says(R"(command = ["./train.sh", "a.sh"])"));
  CHECK(made_of_script("srun -n 2 train.py\n").says(R"(command = ["./train.py"])"));
  CHECK(made_of_script("if a; then srun train.sh; fi\n").says("then ./train.sh; fi"));
  CHECK(made_of_script("srun --container-image=i train.sh\n").says(R"(command = ["train.sh"])"));
  // An environment may have it.
  const std::string sought = "$(type -P m2m.py || echo ./m2m.py)";
  CHECK(made_of_script("conda activate a\nsrun m2m.py train\n")
            .says("exec \\\"" + sought + "\\\" train"));
  CHECK(made_of_script("PATH=~/bin:$PATH\nif a; then srun m2m.py; fi\n")
            .says("then \\\"" + sought + "\\\"; fi"));
  CHECK(made_of_script("mpirun train.sh\n").says(R"(command = ["train.sh"])"));
  CHECK(made_of_script("srun bin/train.sh\n").says(R"(command = ["bin/train.sh"])"));
  CHECK(made_of_script("mpicc -o hello hello.c\nsrun hello\n").says(R"(command = ["./hello"])"));
  CHECK(made_of_script("cp /apps/bin/hello .\nsrun hello 3\n").says(R"(["./hello", "3"])"));
  // A folder of that name, an option of another command, and a program in another folder.
  for (const std::string line : {"cp -r $HOME/proj/julia .\n",
                                 "cp -a /apps/julia ./\n",
                                 "sort x -o julia\n",
                                 "gcc -o julia j.c\ncd run\n"}) {
    CAPTURE(line);
    CHECK_FALSE(made_of_script(line + "srun julia run.jl\n").says("./julia"));
  }
  CHECK(made_of_script("sort -o list x\nsrun hello\n").says(R"(command = ["hello"])"));
  const auto is_here = [](const std::string& name) { return name == "solver"; };
  const auto with_folder = [&](const std::string& body) {
    return convert_script(k_two_nodes + body, {"job.sh", {}, {}, is_here}).job_file;
  };
  CHECK(with_folder("srun solver x\n").find(R"(["./solver", "x"])") != std::string::npos);
  CHECK(with_folder("srun other x\n").find(R"(["other", "x"])") != std::string::npos);
}

TEST_CASE("a variable of the environment may hold a script for bash -c") {
  for (const char* const line :
       {"$TRAIN", "cd x && $TRAIN", "if a; then $TRAIN ; fi", "${TRAIN}"}) {
    CAPTURE(std::string(line));
    const Made made = made_of_script("srun bash -c \"" + std::string(line) + "\"\n");
    CHECK(made.says("exec bash -c "));
    CHECK(made.says(std::string("\\\"") + (line[1] == '{' ? "${TRAIN}" : "$TRAIN") + "\\\""));
  }
  CHECK(made_of_script("srun bash -c \"$BIN/prog --lr $LR\"\n").says("exec $BIN/prog --lr $LR"));
  CHECK(made_of_script("srun bash -c 'prog $LR'\n").says("exec prog $LR"));
}

TEST_CASE("a program that is in arguments or variables without a value is lost") {
  for (const char* const line : {"srun $*", "srun \"$@\"", "srun $CMD"}) {
    CAPTURE(std::string(line));
    const Made made = made_of_script(std::string(line) + "\n");
    CHECK(made.became("srun") == Became::lost);
    CHECK(made.explains("srun", "no program is left"));
    CHECK(made.conversion.job_file.empty());
  }
  CHECK(made_of_script("srun $CMD\n").conversion.needs == std::vector<std::string>{"CMD"});
  CHECK(made_of_script("srun $*\n", {"a", "b"}).says(R"(command = ["a", "b"])"));
}

TEST_CASE("a function that starts its arguments by srun goes") {
  const Made made =
      made_of_script("run() { echo \"$*\"; srun -n 2 \"$@\"; }\nrun python 't 1.py'\n");
  CHECK(made.conversion.is_lossless());
  CHECK(made.says(R"(command = ["python", "t 1.py"])"));
  CHECK(made.says("ntasks = 2"));
  CHECK(made.explains("run python", "through a launcher"));
  const Made other = made_of_script("run() { srun -n $1 \"$@\"; }\nrun 2 python t.py\n");
  CHECK(other.says("ntasks = 2"));
  CHECK(other.says(R"(command = ["2", "python", "t.py"])"));
  CHECK(other.explains("run 2", "written out"));
}

TEST_CASE("empty names in lists of hosts are passed over, as by Slurm") {
  for (const char* const list : {"a,,b", ",a,b", "a,b,"}) {
    const Made made = made_of_script("#SBATCH --exclude=" + std::string(list) + "\nsrun prog\n");
    CHECK(made.conversion.is_lossless());
    CHECK(made.says("exclude = \"a,b\""));
  }
  const Made within = made_of_script("#SBATCH --exclude=a[1,,2]\nsrun prog\n");
  CHECK_FALSE(within.conversion.is_lossless());
}

TEST_CASE("messages say what is in the job file, and what a line is") {
  const std::string two = "#!/bin/bash\n#SBATCH --ntasks-per-node=2\n./prog\n";
  const Conversion made = convert_script(two, {"job.sh", {}, {}});
  CHECK(made.job_file.find("cpus_per_task = 2") != std::string::npos);
  CHECK(made.rows.back().why.find("cpus_per_task = 2: one for each task") != std::string::npos);
  const Made parts = made_of_script("#SBATCH hetjob\n#SBATCH --nodes=1\nsrun prog\n");
  CHECK(parts.explains("#SBATCH hetjob", "component of a heterogeneous job"));
}

TEST_CASE("functions that start programs are written out where they are called") {
  const std::string head = "#SBATCH -N 2\n#SBATCH --ntasks-per-node 4\n";
  const auto job = [&](const std::string& text) { return made_of_script(head + text); };
  const Made twice =
      job("run() {\n  echo \"now $1\"\n  srun python t.py --lr \"$1\" > log.$1\n}\nrun 1\nrun 2\n");
  CHECK(twice.conversion.is_lossless());
  CHECK(twice.says(R"(command = ["python", "t.py", "--lr", "1"])"));
  CHECK(twice.says(R"(command = ["python", "t.py", "--lr", "2"])"));
  CHECK(twice.explains("run 2", "written out"));
  const Made main_function =
      job("run() { local lr=$1 seed=${2:-0}; srun prog --lr $lr --seed $seed; }\n"
          "main() {\n  module load cuda\n  for lr in 0.1 0.2; do run $lr; done\n}\nmain \"$@\"\n");
  CHECK(main_function.conversion.is_lossless());
  CHECK(main_function.says(R"(command = ["prog", "--lr", "0.2", "--seed", "0"])"));
  CHECK(job("run() { srun prog \"$@\" x$#; :; }\nrun a 'b  c'\n")
            .says(R"(command = ["prog", "a", "b  c", "x2"])"));
}

TEST_CASE("a function whose body would be something else elsewhere stays one") {
  const std::string head = "#SBATCH -N 2\n#SBATCH --ntasks-per-node 4\n";
  for (const char* const text : {"run() { srun prog $1; return 3; }\nrun a\n",
                                 "run() { srun prog $1; }\nrun 'a b'\n",
                                 "run() { srun prog $1; }\nrun *.txt\n",
                                 "run() { shift; srun prog $1; }\nrun a b\n",
                                 "run() { srun prog ${1%.*}; }\nrun a.b\n",
                                 "run() { srun prog $1; }\nrun a || exit 1\n",
                                 "run() { srun prog $1; run b; }\nrun a\n",
                                 "lr=5\nrun() { local lr=$1; srun prog $lr; }\nrun 1\nsrun x $lr\n",
                                 "run() { srun prog <<E\n$1\nE\n}\nrun a\n"}) {
    CAPTURE(text);
    const Made made = made_of_script(head + text);
    for (const Row& row : made.conversion.rows)
      CHECK(row.why.find("written out") == std::string::npos);
  }
}
