// SPDX-License-Identifier: Apache-2.0
// Values of variables that the script changes by arithmetic, eval, printf and unset, and the name
// of the script's own node.
#include "core/convert/program/script_sizes.hpp"
#include "tests/unit/convert/reduced.hpp"

using namespace dts;
using namespace dts::convert;

TEST_CASE("a value that the script changes without an assignment is not known after it") {
  for (const std::string line : {"let N=N*2",
                                 "let \"N = N * 2\"",
                                 "((N=N*2))",
                                 "((N *= 2))",
                                 "((N++))",
                                 "((--N))",
                                 ": $((N+=3))",
                                 "M=$((N++))",
                                 "export M=$((N <<= 1))",
                                 "for ((N = 0; N < 4; N++)); do :; done",
                                 "printf -v N %d 4",
                                 "mapfile -t N < f",
                                 "eval N=4",
                                 "unset N"}) {
    CAPTURE(line);
    const std::string text = "N=2\n" + line + "\n";
    CHECK(of_one_node(text + "srun ./a $N\n").job_has("./a $N"));
    // Neither in a size, nor in a condition.
    CHECK(of_one_node(text + "srun -n $N ./a\n").became("srun") == Became::lost);
    CHECK(of_one_node(text + "if [ $N = 2 ]; then\n  srun -n 1 ./a\n  srun -n 2 ./b\nfi\n")
              .became("if [ $N") != Became::unnecessary);
  }
  for (const std::string line : {"((N == 2))", "[[ $((N + 1)) -gt 2 ]]", "M=$((N * 2))"}) {
    CAPTURE(line);
    CHECK(of_one_node("N=2\n" + line + "\nsrun ./a $N\n").job_has("\"2\""));
  }
  // Also within one line.
  CHECK(of_one_node("A=1 B=$((A += 1))\n./a $A $B\n").job_has("exec ./a $A $B"));
  CHECK(of_one_node("A=1 B=${C:=3}\n./a $A $B $C\n").job_has("exec ./a 1 $B $C"));
  CHECK(of_one_node("A=1 B=$((A += 1)) A=5\n./a $A\n").job_has("\"5\""));
  for (const std::string line : {"eval A=(2 3)", "eval A+=(3)", "eval B=1 A=('$X')"}) {
    CAPTURE(line);
    const Reduced made = of_one_node("A=(1)\n" + line + "\nsrun ./a \"${A[@]}\"\n");
    CHECK(made.made.is_lossless());
    CHECK(made.job_has("./a \"${A[@]}\""));
  }
  // It is computed once, not in each place that uses it.
  CHECK(of_one_node("N=2\nM=$((N++))\nsrun ./a $M $N\n").job_has("N=2\nM=$((N++)) || true\n"));
}

TEST_CASE("arithmetic whose result is zero does not end the run") {
  CHECK(of_one_node("i=0\n((i++))\nsrun ./a $i\n").job_has("((i++)) || true"));
  CHECK(of_one_node("let i=0\nsrun ./a $i\n").job_has("let i=0 || true"));
  CHECK_FALSE(of_one_node("set -e\ni=1\n((i++))\nsrun ./a $i\n").job_has("|| true"));
}

TEST_CASE("a size of the job that the script sets itself is not the job's") {
  const std::string sets = "if [ -f x ]; then\n  SLURM_NTASKS=24\nfi\n";
  CHECK(of_one_node("srun -n $SLURM_NTASKS ./a\n").made.is_lossless());
  CHECK(of_one_node(sets + "srun -n $SLURM_NTASKS ./a\n").became("srun") == Became::lost);
}

TEST_CASE("variables of sourced files in arithmetic are handed on") {
  const Reduced made =
      of_nodes("source conf.sh\nsrun ./a $((GLOBAL / (SLURM_NNODES * MICRO))) 'NOT((this))'\n");
  CHECK(made.job_has("\nexport GLOBAL MICRO\n"));
  const Reduced text = of_nodes("source conf.sh\nif (( BIG > 1 )); then srun ./a; fi\n");
  CHECK(text.job_has("\nexport BIG\n"));
  CHECK_FALSE(of_nodes("source conf.sh\nsrun ./a $((1 + 2)) word\n").job_has("export"));
  CHECK_FALSE(of_nodes("source conf.sh\nN=4\nsrun ./a $((N * 2))\n").job_has("export"));
}

TEST_CASE("the value of a launcher's option is no program, and no missing option") {
  const Reduced open = of_one_node("mpirun -np ${RANKS} ./a\n");
  CHECK(open.became("mpirun") == Became::fill_in);
  CHECK(open.job_has("# ntasks = \"${RANKS}\""));
  CHECK(of_one_node("[ -f x ] && N=4\nsrun -n $N ./a\n")
            .says("srun", "--ntasks=$N: its value is known only in the job's shell"));
  CHECK(of_one_node("IMAGE=a.sqsh\nif [ -f x ]; then\n  IMAGE=b.sqsh\nfi\n"
                    "srun --container-image $IMAGE ./a\n")
            .made.job_file.find("\"program\"") == std::string::npos);
}

TEST_CASE("a size that the script itself counts is no blank to fill in") {
  const std::string why = "its value is known only in the job's shell";
  for (const std::string line :
       {"((N=$(wc -l < hosts)*4))", "read N < hosts", "for N in $(cat f); do :; done"}) {
    CAPTURE(line);
    const Reduced made = of_one_node(line + "\nmpirun -np $N ./a\n");
    CHECK(made.became("mpirun") == Became::lost);
    CHECK(made.says("mpirun", why));
  }
  // A loop over the number of ranks cannot run in each of them.
  for (const std::string loop :
       {"for i in {65..128}; do mpirun -np $i ./a | tail -n 1 >> f; done\n",
        "for i in 1 2; do mpirun -np $RANKS ./a | tail >> f$i; done\n"}) {
    CAPTURE(loop);
    CHECK(of_one_node(loop).became("for i") == Became::lost);
  }
}

TEST_CASE("a launcher that a variable hides is a loss") {
  for (const std::string line : {"RUN=\"srun -n $(nproc)\"\n", "RUN=\"mpirun -np `nproc`\"\n"}) {
    CAPTURE(line);
    const Reduced made = of_one_node(line + "$RUN ./a b\n");
    CHECK(made.became("$RUN ./a") == Became::lost);
    CHECK(made.says("$RUN ./a", "the launcher in $RUN, whose value is known only in the job's"));
  }
}

TEST_CASE("a program that which finds is that program") {
  const Reduced found = of_one_node("srun -n 2 $(which prog) a\n");
  CHECK(found.made.is_lossless());
  CHECK(found.job_has("exec $(which prog) a"));
  CHECK(of_one_node("$(which mpirun) -n 2 ./a\n").job_has("launcher = \"mpirun\""));
}

TEST_CASE("what the script's shell sets from its node's name is the first node's on each node") {
  const std::string first = "$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)";
  const Reduced url = of_nodes("export A=\"tcp://$(hostname -s):$P/${HOSTNAME}\"\nsrun ./a $A\n");
  CHECK(url.job_has("export A=\"tcp://" + first + ":$P/" + first + "\"\n"));
  for (const std::string name :
       {"${HOSTNAME%%.*}", "${HOSTNAME%.*}", "$(hostname -f)", "`hostname`"}) {
    CAPTURE(name);
    CHECK(of_nodes("export A=tcp://" + name + ":1\nsrun ./a $A\n")
              .job_has("export A=tcp://" + first + ":1\n"));
    CHECK(of_nodes("srun ./a " + name + "\n").job_has("./a $MASTER_ADDR"));
  }
  // An address stays one.
  for (const std::string address : {"$(/bin/hostname -i)",
                                    "$(hostname -I | awk '{print $1}')",
                                    "`hostname -I | cut -d' ' -f1`"}) {
    CAPTURE(address);
    const Reduced made = of_nodes("export A=tcp://" + address + ":1\nsrun ./a $A\n");
    CHECK(made.job_has("export A=tcp://$(getent ahostsv4 \"" + first +
                       "\" | awk '{ print $1; exit }'):1\n"));
    CHECK(of_nodes("srun ./a " + address + "\n").job_has("./a $MASTER_ADDR"));
  }
  for (const std::string part :
       {"$(hostname -I | cut -d. -f4)", "$(hostname -i | awk -F. '{print $4}')"}) {
    CAPTURE(part);
    CHECK(of_nodes("export A=" + part + "\nsrun ./a $A\n").job_has("export A=" + part + "\n"));
  }
  const Reduced ip = of_nodes("head_ip=$(srun -N1 -n1 hostname -i)\nexport head_ip\nsrun ./a\n");
  CHECK(ip.job_has("head_ip=$(getent ahostsv4 "));
  CHECK(ip.says("head_ip", "becomes the address of the first node"));
  CHECK(of_nodes("export A=$HOSTNAMES:1\nsrun ./a\n").job_has("A=$HOSTNAMES:1"));
  CHECK(of_nodes("export A='$(hostname)'\nsrun ./a\n").job_has("A='$(hostname)'"));
  CHECK(of_one_node("export A=x$(hostname)\n./a\n").job_has("A=x$(hostname)"));
}

TEST_CASE("a size that an argument gives is a blank until the argument is there") {
  for (const std::string line : {"srun -n $1 ./a", "N=$1\nsrun -n $N ./a", "mpirun -np ${1} ./a"}) {
    CAPTURE(line);
    const Reduced open = of_one_node(line + "\n");
    CHECK(open.made.is_lossless());
    CHECK(open.job_has("# ntasks = \"$1\""));
    const std::string of_job = "#!/bin/bash\n#SBATCH --nodes=1\n";
    CHECK(Reduced(of_job + line + "\n", {"6"}).job_has("ntasks = 6"));
  }
  CHECK(of_one_node("srun -n ${1:-3} ./a\n").job_has("ntasks = 3"));
  // An argument of a function is none of the script.
  const Reduced called =
      of_one_node("go() {\n  srun -n $1 ./a && echo \"$1\"\n  return 0\n}\ngo 2\n");
  CHECK_FALSE(called.job_has("# ntasks"));
}

TEST_CASE("sizes of the script's job keep their values where the program's job has one process") {
  const std::string begin = "#!/bin/bash\n#SBATCH --nodes=1 --ntasks=6 --cpus-per-task=2\n";
  const Reduced sized(begin +
                      "export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK\n"
                      "export ALL=$((SLURM_NTASKS * 2)) HALF=${SLURM_NTASKS}\n"
                      "./a -p $SLURM_NTASKS -t ${SLURM_CPUS_PER_TASK:-4} $SLURM_NTASKS_X\n");
  CHECK(sized.job_has("cpus_per_task = 12"));
  CHECK(sized.job_has("OMP_NUM_THREADS=2\n"));
  CHECK(sized.job_has("ALL=$((6 * 2)) HALF=6\n"));
  CHECK(sized.job_has("./a -p 6 -t 2 $SLURM_NTASKS_X"));
  CHECK(sized.says("./a", "are written in"));
  // What Slurm does not set keeps its default.
  const std::string open = "#!/bin/bash\n#SBATCH --nodes=1 --ntasks=6\n";
  CHECK(Reduced(open + "./a -t ${SLURM_CPUS_PER_TASK:-4}\n").job_has(R"("./a", "-t", "4")"));
  CHECK(Reduced(open + "./a -t ${SLURM_CPUS_PER_TASK:-$N}\n").job_has("exec ./a -t $N"));
  // The ranks of a launcher are the script's tasks, and one task stays one.
  CHECK(Reduced(begin + "srun ./a -p $SLURM_NTASKS\n").job_has("./a -p $SLURM_NTASKS"));
  CHECK(of_one_node("./a -p $SLURM_NTASKS\n").job_has("./a -p $SLURM_NTASKS"));
  CHECK(Reduced(open + "export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-4}\nmpirun ./a\n")
            .job_has("export OMP_NUM_THREADS=4\n"));
  CHECK(Reduced(begin + "export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-4}\nsrun ./a\n")
            .job_has("export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-4}\n"));
  // torchrun's processes are as many as in the script.
  CHECK(Reduced(begin + "torchrun --nproc_per_node=$SLURM_NTASKS a.py\n")
            .job_has(R"("torchrun", "--nproc_per_node=6", "a.py")"));
}

TEST_CASE("ranks get the sizes that the launcher's shell has, also if it starts others") {
  const std::string begin =
      "#!/bin/bash\n#SBATCH --nodes=2 --ntasks=16\nexport ALL=$SLURM_NTASKS\n";
  const Reduced fewer(begin + "srun -N 1 -n 2 ./a $SLURM_NTASKS \"$SLURM_NNODES\" $SLURM_JOB_ID\n");
  CHECK(fewer.job_has("./a 16 2 $SLURM_JOB_ID"));
  CHECK(fewer.job_has("export ALL=16\n"));
  // The rank's shell expands what the launcher's shell does not.
  for (const char* end : {"", "; true"}) {
    CAPTURE(std::string(end));
    const Reduced both(begin + "srun -n 2 bash -c \"./a $SLURM_NTASKS \\$SLURM_NTASKS" + end +
                       "\"\n");
    CHECK(both.job_has("./a 16 $SLURM_NTASKS"));
    const Reduced single(begin + "srun -n 2 bash -c './a $SLURM_NTASKS" + end + "'\n");
    CHECK(single.job_has("./a $SLURM_NTASKS"));
  }
  const Reduced written(begin +
                        "cat > w.sh <<'E'\n./a $SLURM_NTASKS\nE\nC='./a $SLURM_NTASKS'\n"
                        "D=\"it's $SLURM_NTASKS\"  # don't $SLURM_NTASKS\n"
                        "cat > cfg <<E\ndon't\nn=$SLURM_NTASKS\nE\nexport Z=$SLURM_NTASKS\n"
                        "srun -n 2 bash w.sh \"$C\" \"$D\"\n");
  CHECK(written.job_has("\n./a $SLURM_NTASKS\nE"));
  CHECK_FALSE(written.job_has("'./a 16'"));
  CHECK(written.job_has("don't\nn=16\nE"));
  CHECK(Reduced(begin + "srun -n 2 ./a --thread 4 $SLURM_NTASKS\n").job_has("\"4\", \"16\""));
  // What the script or Slurm leaves open is no size of the job.
  for (const char* sets : {"export SLURM_NTASKS=$(cat n)\n", "unset SLURM_NTASKS\n"}) {
    CAPTURE(std::string(sets));
    CHECK_FALSE(Reduced(begin + sets + "srun -n 2 ./a $SLURM_NTASKS\n").job_has("16\""));
  }
  CHECK(Reduced("#!/bin/bash\n#SBATCH --nodes=4\nsrun -N4 -n 8 ./a ${SLURM_NTASKS:-8}\n")
            .job_has("./a ${SLURM_NTASKS:-8}"));
  for (const char* same : {"srun", "srun -n 16", "srun -N 2 -n $SLURM_NTASKS", "mpirun"}) {
    CAPTURE(same);
    const Reduced all(begin + same + " ./a $SLURM_NTASKS $SLURM_NNODES\n");
    CHECK(all.job_has("./a $SLURM_NTASKS $SLURM_NNODES"));
    CHECK(all.job_has("export ALL=$SLURM_NTASKS\n"));
  }
  // Of two steps, each has its own.
  const Reduced steps(begin + "srun -n 2 ./a $SLURM_NTASKS\nsrun -N 1 -n 4 ./b $SLURM_NNODES\n");
  CHECK(steps.job_has("\"./a\", \"16\""));
  CHECK(steps.job_has("\"./b\", \"2\""));
  // In a text and its functions, what the script's shell expands; and in a step without a launcher.
  CHECK(Reduced(begin + "if [ $SLURM_NTASKS -gt 4 ]; then srun -n 4 ./a $SLURM_NNODES; fi\n")
            .job_has("if [ 16 -gt 4 ]; then ./a $SLURM_NNODES; fi"));
  CHECK(Reduced(begin +
                "cd x && srun -N 1 -n 2 ./a $SLURM_NNODES \"$SLURM_NTASKS\" '$SLURM_NTASKS'\n")
            .job_has("./a 2 \\\"16\\\" '$SLURM_NTASKS'"));
  CHECK(Reduced(begin + "go() {\n  srun -n 2 $1 $SLURM_NTASKS\n  true\n}\ngo ./a$SLURM_NTASKS\n")
            .job_has("  $1 16\n  true\n}\ngo ./a16"));
  CHECK(Reduced(begin + "srun ./b\n./a $SLURM_NTASKS $SLURM_NNODES\nsrun ./c\n")
            .job_has("[\"./a\", \"16\", \"2\"]"));
  // A role is on some of the nodes.
  const Reduced roles = of_nodes(
      "nodes=($(scontrol show hostnames))\n"
      "srun -N1 -n1 -w ${nodes[0]} ./serve $SLURM_NTASKS &\n"
      "srun -N1 -n1 -w ${nodes[1]} bash -c \"./a $SLURM_NNODES; true\"\n");
  CHECK(roles.job_has("\"./serve\", \"2\""));
  CHECK(roles.job_has("./a 2; true"));
}

TEST_CASE("ranks that do not share the job's nodes evenly are named, and lost without room") {
  const std::string nodes = "#!/bin/bash\n#SBATCH --nodes=2\n";
  const std::string steps = "srun -n 7 ./a\nsrun -n 4 ./b\n";
  const Reduced room(nodes + "#SBATCH --ntasks=16\n" + steps);
  CHECK(room.became("srun -n 7") == Became::program);
  CHECK(room.says("srun -n 7", "its 7 ranks are on 1 of 2 nodes"));
  CHECK_FALSE(room.says("srun -n 4", "its 4 ranks"));
  const Reduced full(nodes + "#SBATCH --ntasks-per-node=4\n" + steps);
  CHECK(full.became("srun -n 7") == Became::lost);
  CHECK(full.became("srun -n 4") == Became::program);
  // The nodes have room, and mpirun fills the first one.
  CHECK(Reduced(nodes + "#SBATCH --exclusive\n" + steps).says("srun -n 7", "its 7 ranks are on 1"));
  CHECK(Reduced(nodes + "mpirun -np 7 ./a\nsrun -n 4 ./b\n").says("mpirun", "Slurm may fill"));
}

TEST_CASE("sizes of the script's job are found in all arithmetic, with any default") {
  const ScriptSizes sizes{{"SLURM_NTASKS", "6"}, {"SLURM_CPUS_PER_TASK", std::nullopt}};
  const auto written = [&](const std::string& text) { return with_script_sizes(text, sizes); };
  CHECK(written("for ((i=0; i<SLURM_NTASKS; i++))") == "for ((i=0; i<6; i++))");
  CHECK(written("(( SLURM_NTASKS > 1 )) && a") == "(( 6 > 1 )) && a");
  CHECK(written("[[ SLURM_NTASKS -gt 1 ]]") == "[[ 6 -gt 1 ]]");
  CHECK(written("[[ 1 -lt SLURM_NTASKS ]]; echo SLURM_NTASKS") ==
        "[[ 1 -lt 6 ]]; echo SLURM_NTASKS");
  CHECK(written("$(( (2*(2+1)) / SLURM_NTASKS )) SLURM_NTASKS") ==
        "$(( (2*(2+1)) / 6 )) SLURM_NTASKS");
  for (const char* rest : {":-$(nproc)", ":-\"1\"", ":-$N", ":-${N:-1}", "-a b", ":?unset"})
    CHECK(written(std::string("x${SLURM_NTASKS") + rest + "}y") == "x6y");
  CHECK(written("${SLURM_NTASKS:+-n 2}$SLURM_NTASKS") == "${SLURM_NTASKS:+-n 2}6");
  CHECK(written("${SLURM_NTASKS:+-n$SLURM_NTASKS}") == "-n6");
  CHECK(written("${SLURM_CPUS_PER_TASK:-$(nproc)} ${SLURM_CPUS_PER_TASK:+x}") == "$(nproc) ");
  CHECK(written("${SLURM_CPUS_PER_TASK:-${SLURM_NTASKS}}") == "6");
  for (const std::string same : {"echo \"\\$SLURM_NTASKS\"",
                                 "cat > j <<'E'\n#SBATCH -n 2\nsrun -n $SLURM_NTASKS\nE\n",
                                 "[ -n \"$SLURM_CPUS_PER_TASK\" ]"})
    CHECK(written(same) == same);
  CHECK(written("bash <<'E'\n./a $SLURM_NTASKS\nE\n") == "bash <<'E'\n./a 6\nE\n");
}

TEST_CASE("sizes that stay are noted, or lost, and the tear-down has those of the script") {
  const std::string begin = "#!/bin/bash\n#SBATCH -N 1 -n 6 -c 2\n";
  CHECK(Reduced(begin + "./a\ncp x y$SLURM_NTASKS\n").job_has("cp x y6\n"));
  CHECK(Reduced(begin + "./a ${SLURM_NTASKS%6}\n").says("./a", "SLURM_NTASKS is another"));
  CHECK(Reduced("#!/bin/bash\n#SBATCH -n 4\n./a $SLURM_CPUS_PER_TASK\n")
            .says("./a", "SLURM_CPUS_PER_TASK is not set in the script"));
}
