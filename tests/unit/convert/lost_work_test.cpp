// SPDX-License-Identifier: Apache-2.0
// Work that a script does is in the job or reported as lost: reductions of scripts that people
// wrote.
#include "tests/unit/convert/reduced.hpp"

using namespace dts;
using namespace dts::convert;

TEST_CASE("a training that ssh starts is no tear-down") {
  const std::string before = "srun python a.py\n";
  for (const char* line : {"ssh $HEAD \"cd $PWD && apptainer exec x.sif python -m train\"",
                           "ssh -o BatchMode=yes $HEAD torchrun train.py",
                           "ssh $OPTIONS $HEAD nohup env A=1 $PREFIX/bin/python train.py",
                           "ssh $HEAD \"$PREFIX/bin/python train.py\"",
                           "pdsh -w $NODES \"mpirun ./prog\""}) {
    CAPTURE(line);
    const Reduced made = of_nodes(before + line + "\n");
    CHECK(made.became(line) == Became::lost);
    CHECK(made.says(line, "is another launcher"));
  }
  for (const char* line : {"ssh login touch done",
                           "ssh -p 22 $HEAD \"pkill -f python\"",
                           "ssh login mv /scratch/mpirun /archive",
                           "pdsh -w $NODES killall python",
                           "ssh $HEAD timeout 9 killall python",
                           "ssh $O $HEAD which python"}) {
    CAPTURE(line);
    CHECK(of_nodes(before + line + "\n").became(line) == Became::tear_down);
  }
}

TEST_CASE("lines beside a program in the background are not behind it") {
  const std::string begin = "python server.py &\nPID=$!\n";
  const Reduced one =
      of_one_node(begin + "until curl -s localhost:80; do sleep 1; done\ntouch ready\nwait $PID\n");
  CHECK(one.made.is_lossless());
  CHECK(
      one.job_has("PID=$!\nuntil curl -s localhost:80; do sleep 1; done\ntouch ready\nwait $PID"));
  CHECK_FALSE(one.job_has("teardown"));
  const Reduced ranks =
      of_nodes("srun python a.py &\nPID=$!\ncp a.yaml out\nwait $PID\ncp b out\n");
  CHECK(ranks.became("cp a.yaml") == Became::lost);
  CHECK(ranks.says("cp a.yaml", "runs while the program does"));
  CHECK(ranks.became("cp b") == Became::tear_down);
  const Reduced torch = of_one_node("torchrun a.py &\ndcgmi dmon > gpus &\nwait\n");
  CHECK(torch.became("dcgmi") == Became::lost);
}

TEST_CASE("options of horovodrun in a variable are no program") {
  const std::string hosts =
      "H=\"-H \"\nfor n in $(scontrol show hostnames); do H=\"$H$n:4,\"; done\n";
  const Reduced known = of_nodes(hosts + "horovodrun -np 8 ${H%?} --gloo python a.py\n");
  CHECK(known.made.is_lossless());
  CHECK(known.job_has("command = [\"python\", \"a.py\"]"));
  const Reduced elastic = of_nodes("horovodrun -np 8 --min-np 4 --hosts a:4 python a.py\n");
  CHECK(elastic.says("horovodrun", "--min-np: the job keeps its number of ranks"));
  const Reduced other = of_nodes(
      "A=\"--timeout $X\"\nif y; then A=\"$A 3\"; fi\n"
      "horovodrun -np 8 $A python a.py\n");
  CHECK(other.became("horovodrun") == Became::lost);
  CHECK(other.says("horovodrun", "options in $A are known only"));
  for (const char* value : {"A=\"-H $(./hosts) -np 4\"\n", "A=\"-H $(./h)\"\nA=\"$A -np 4\"\n"}) {
    CAPTURE(value);
    const Reduced more = of_nodes(std::string(value) + "horovodrun $A python a.py\n");
    CHECK(more.says("horovodrun", "options in $A are known only"));
  }
}

TEST_CASE("options of horovodrun for the program are variables") {
  const Reduced made = of_nodes(
      "horovodrun -np 8 --autotune --fusion-threshold-mb 32 --cycle-time-ms=3.5 --tcp "
      "--timeline-filename t.json --disable-cache --torus-allreduce --log-without-timestamp "
      "python a.py\n");
  CHECK(made.made.is_lossless());
  CHECK_FALSE(made.job_has("HOROVOD_CACHE_CAPACITY"));  // --disable-cache is of horovodrun's checks
  for (const char* variable : {"HOROVOD_AUTOTUNE=1",
                               "HOROVOD_FUSION_THRESHOLD=33554432",
                               "HOROVOD_CYCLE_TIME=3.5",
                               "NCCL_IB_DISABLE=1",
                               "HOROVOD_TORUS_ALLREDUCE=1",
                               "HOROVOD_LOG_HIDE_TIME=1",
                               "HOROVOD_TIMELINE=t.json"})
    CHECK(made.job_has(variable));
  for (const char* option : {"--fusion-threshold-mb $(./mb)", "--config-file a.yaml"}) {
    CAPTURE(option);
    const Reduced lost = of_nodes("horovodrun -np 8 " + std::string(option) + " python a.py\n");
    CHECK(lost.says("horovodrun", "its value is known only in the job"));
  }
}

TEST_CASE("an option of horovodrun without a value does not swallow the program") {
  const std::string is_program = "\"python\", \"a.py\"]";
  for (const char* option : {"--hierarchical-allreduce",
                             "--no-hierarchical-allgather --no-stall-check --tcp",
                             "--log-with-timestamp",
                             "--blacklist-cooldown-range 60 300"}) {
    CAPTURE(option);
    const Reduced made = of_nodes("horovodrun -np 8 " + std::string(option) + " python a.py\n");
    CHECK(made.made.is_lossless());
    CHECK(made.job_has(is_program));
  }
  const Reduced unknown = of_nodes("horovodrun -np 8 --newer python a.py\n");
  CHECK(unknown.says("horovodrun", "--newer is no option that dtsubmit knows"));
  CHECK(unknown.job_has(is_program));
  CHECK(of_nodes("horovodrun -np 8 --newer=1 python a.py\n").made.is_lossless());
}

TEST_CASE("`--` ends the options of mpirun") {
  const Reduced made = of_nodes("mpirun -np 2 -x A=1 -- ./prog -n 3\n");
  CHECK(made.made.is_lossless());
  CHECK(made.job_has("command = [\"env\", \"A=1\", \"./prog\", \"-n\", \"3\"]"));
}

TEST_CASE("the tasks of a node are a number, however the script reads it") {
  for (const char* count : {"$(echo $SLURM_TASKS_PER_NODE | cut -d '(' -f 1)",
                            "`echo ${SLURM_TASKS_PER_NODE} | cut -d'(' -f1`",
                            "$(echo \"$SLURM_TASKS_PER_NODE\" | sed 's/(.*//')",
                            "$(echo $SLURM_TASKS_PER_NODE | awk -F'(' '{print $1}')",
                            "${SLURM_TASKS_PER_NODE%%(*}"}) {
    CAPTURE(count);
    const Reduced made = of_nodes("N=" + std::string(count) + "\nmpirun -np $((2 * N)) ./prog\n");
    CHECK(made.made.is_lossless());
    CHECK(made.job_has("ntasks = 2\n"));
    CHECK(made.became("N=") == Became::program);
  }
}

TEST_CASE("the number of a node's tasks stays a word of its own") {
  const std::string count = "${SLURM_TASKS_PER_NODE%%(*}";
  CHECK(of_nodes("srun ./a " + count + "x2\n").job_has("[\"./a\", \"1x2\"]"));
  CHECK(of_nodes("srun ./a $X" + count + "\n").job_has("$X${SLURM_NTASKS_PER_NODE}"));
}

TEST_CASE("a file that the script reads behind its program is lost") {
  const Reduced made = of_one_node("cp -r a b\nsource b/install.sh\nset > b/log\n");
  CHECK(made.became("source") == Became::lost);
  CHECK(made.says("source", "source it in the program's own script"));
  CHECK(made.became("set > b") == Became::tear_down);
  CHECK(of_one_node("srun ./a\nsource deactivate\n").made.is_lossless());
}

TEST_CASE("a list of nodes that a line reads is written, whatever the line calls the file") {
  for (const char* read : {"IN=./nodes\nmapfile -t all < $IN\nmkdir -p out/${all[0]}\n",
                           "cp $PWD/nodes out\n",
                           "cp ${PWD}/nodes out\n"})
    CHECK(of_nodes("scontrol show hostnames $SLURM_NODELIST > nodes\n" + std::string(read) +
                   "srun ./a\n")
              .became("scontrol") == Became::set_up);
}

TEST_CASE("a list of files at the end is not the program") {
  const Reduced made = of_one_node("swift export --to hf\nfind out -type f | sort\n");
  CHECK(made.became("swift") == Became::program);
  CHECK(made.became("find") == Became::tear_down);
}

TEST_CASE("steps do not share the names that mktemp makes") {
  const std::string folder = "T=$(mktemp -d)\nARGS+=(--out $T)\n";
  const Reduced two = of_nodes(folder + "srun ./a ${ARGS[@]}\nsrun ./b $T/x\n");
  CHECK(two.became("srun ./a") == Became::lost);
  CHECK(two.says("srun ./b", "runs mktemp again"));
  CHECK(of_nodes(folder + "srun ./a ${ARGS[@]}\nsrun ./b x\n").made.is_lossless());
  CHECK(of_nodes("export T=$(mktemp -d)\nsrun ./a\nsrun ./b\n").says("srun ./b", "runs mktemp"));
  CHECK(of_nodes("export TMPDIR=$(mktemp -d)\nsrun ./a\nsrun ./b\n").made.is_lossless());
}

TEST_CASE("roles do not share a port that each of them draws") {
  const std::string nodes = "N=($(scontrol show hostnames $SLURM_JOB_NODELIST))\nH=${N[0]}\n";
  const std::string ray =
      "srun -N1 -n1 -w $H ray start --head --port=$P --block &\n"
      "srun -N1 -n1 -w ${N[1]} ray start --address=$H:$P --block &\npython train.py\n";
  const Reduced drawn =
      of_nodes(nodes + "P=$(comm -23 <(seq 15000 20000) <(ss -Htan) | shuf -n 1)\n" + ray);
  CHECK_FALSE(drawn.made.is_lossless());
  CHECK(drawn.says("srun -N1 -n1 -w ${N[1]}", "computes P for itself"));
  CHECK(of_nodes(nodes + "P=6379\n" + ray).made.is_lossless());
  const std::string key = nodes + "P=6379\nK=$(openssl rand -hex 16)\n";
  CHECK(
      of_nodes(key + "export K\n" + ray).says("srun -N1 -n1 -w ${N[1]}", "computes K for itself"));
  CHECK(of_nodes(key + ray).made.is_lossless());
}

TEST_CASE("what prepares a training of all nodes runs on the first one") {
  const Reduced made = of_nodes("python hosts.py\ndeepspeed --hostfile hosts train.py\n");
  CHECK(made.made.is_lossless());
  CHECK(made.job_has("command = [\"python\", \"hosts.py\"]\nname = \"hosts\"\nnodes = \"1\""));
  const Reduced sync = of_nodes("srun -N1 -n1 uv sync\nsrun ./prog\n");
  CHECK(sync.job_has("if on_first_node; then\nuv sync"));
  for (const char* options :
       {"", "-N1 -n1 -r 1 ", "-N1 -n1 -x a ", "-N1 --relative=1 ", "-N1 -F f "}) {
    CAPTURE(options);
    CHECK(of_nodes("srun " + std::string(options) + "uv sync\nsrun ./prog\n")
              .job_has("setup = ['''\nuv sync"));
  }
  CHECK(of_nodes("for i in 0 1; do srun -N1 -n1 -r $i cp a b; done\nsrun ./prog\n")
            .job_has("setup = ['''\nfor i in"));
}

TEST_CASE("arguments in a variable are joined by blanks") {
  const std::string job =
      "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=4\nCMD=\"train.py $@\"\n"
      "L=\"accelerate launch --machine_rank \\$SLURM_PROCID\"\n"
      "srun bash -c \"$L $CMD\"\n";
  const Reduced none(job);
  CHECK(none.made.is_lossless());
  CHECK(none.job_has("[\"accelerate\", \"launch\", \"train.py\""));
  const Reduced two(job, {"--lr", "0.1"});
  CHECK(two.made.is_lossless());
  CHECK(two.job_has("\"train.py\", \"--lr\", \"0.1\""));
}

TEST_CASE("bash reads one value of a limit, and a pause prints nothing") {
  const Reduced made = of_one_node("ulimit -n 65536 1048576\nsrun ./a &\nsleep 5\nwait\n");
  CHECK(made.made.is_lossless());
  CHECK(made.job_has("ulimit = [\"nofile=65536\"]"));
  CHECK(made.says("sleep", "a pause"));
}

TEST_CASE("a comment for the job may hold anything") {
  CHECK(Reduced("#!/bin/bash\n#SBATCH --comment=\"<deadline>\"\nsrun ./a\n").became("--comment") ==
        Became::option);
}

TEST_CASE("a role waits for processes of its own until the others have ended") {
  const std::string nodes = "N=($(scontrol show hostnames $SLURM_JOB_NODELIST))\n";
  const std::string serve =
      "srun -N1 -n1 -w ${N[0]} ./srv & S=$!\nsrun -N1 -n1 -w ${N[0]} ./side & T=$!\n";
  const std::string ask = "srun -N1 -n1 -w ${N[1]} ./ask & C=$!\n";
  const std::string end = "wait $C\nkill $S\n";
  const std::string begin = "'''\n./srv &\nS=$!\n./side &\nT=$!\n";
  const std::string behind =
      "''']\nlauncher = \"srun\"\nname = \"srv\"\nnodes = \"1\"\n"
      "ntasks_per_node = \"1\"\nuntil = \"others end\"\n";
  const Reduced made = of_nodes(nodes + serve + ask + end);
  CHECK(made.job_has(begin + "wait" + behind));
  CHECK(made.became("C=$!") == Became::unnecessary);
  CHECK(of_nodes(nodes + serve + ask + "cp a b\n" + end).job_has(begin + "cp a b\nwait" + behind));
  // The name is that of another role's process in the end.
  const Reduced same =
      of_nodes(nodes + "srun -N1 -n1 -w ${N[0]} ./srv & C=$!\n" + ask + "wait $C\n");
  CHECK_FALSE(same.job_has("wait $C"));
}

TEST_CASE("a program whose path begins with a variable is no option of its launcher") {
  for (const std::string program :
       {"$WORK/a", "\"$WORK/a\"", "${WORK}/bin/a", "$(pwd)/a", "$1", "${1}"})
    for (const std::string launcher : {"srun", "srun --mpi=pmix", "mpirun", "srun $OPTIONS"}) {
      CAPTURE(launcher);
      CAPTURE(program);
      const Reduced job = of_one_node(launcher + " " + program + " -b 512M --x=1\n");
      CHECK(job.made.is_lossless());
      CHECK(job.job_has(" -b 512M --x=1"));
    }
  for (const std::string program : {"$WORK/a", "$1"}) {
    CAPTURE(program);
    const Reduced job = of_one_node("srun " + program + " in.txt\n");
    CHECK(job.made.is_lossless());
    CHECK(job.job_has("exec " + program + " in.txt"));
  }
  const Reduced unset = of_one_node("srun $PROG --x=1\n");
  CHECK(unset.became("srun") == Became::lost);
  CHECK(unset.made.needs == std::vector<std::string>{"PROG"});
  // Before a known program, they are options.
  CHECK(of_one_node("srun $OPTIONS python a.py\n").job_has("[\"python\", \"a.py\"]"));
  CHECK(of_one_node("srun $1 python a.py\n").became("srun") != Became::program);
  CHECK(of_one_node("mpirun $OPTIONS ./a\n").says("mpirun", "options of mpirun that are empty"));
  // A value in the set-up is that of the program.
  CHECK(of_one_node("BIN=\"$(pwd)/build/a\"\nsrun $BIN -n 50\n").job_has("/build/a -n 50"));
}

TEST_CASE("a script that reads options gets its arguments") {
  const std::string options =
      "while getopts \"m:\" one; do\n  case $one in\n    m) M=$OPTARG ;;\n"
      "  esac\ndone\n";
  const std::string words =
      "while [[ $# -gt 0 ]]; do\n  case $1 in\n    --m) M=$2; shift 2 ;;\n"
      "  esac\ndone\n";
  for (const std::string& reads : {options, words}) {
    CAPTURE(reads);
    const std::string begin = "#!/bin/bash\n#SBATCH --nodes=1\n";
    const Reduced given(begin + reads + "srun ./a $M\n", {"-m", "b"});
    CHECK(given.job_has("set -- -m b\n"));
    const Reduced open(begin + reads + "srun ./a $M\n");
    CHECK(open.says("while", "there are no arguments: if the script gets some"));
    CHECK(open.made.is_lossless());
    CHECK_FALSE(given.says("while", "there are no arguments"));
    const Reduced rest(begin + reads + "shift $N\nsrun ./a \"$@\"\n", {"-m", "b", "c"});
    CHECK(rest.made.is_lossless());
    CHECK(rest.job_has("printf 'set --'; [ $# -eq 0 ] || printf ' %q' \"$@\""));
    CHECK(rest.job_has("eval \"$SCRIPT_STATE\"\nexec ./a \"$@\"''']"));
  }
}

TEST_CASE("a list of nodes within a file that the script writes anyway is kept") {
  const std::string list = "NODES=$(scontrol show hostnames $SLURM_JOB_NODELIST)\n";
  const std::string adds = "echo \"hosts = $NODES\" >> $CONFIG\n";
  const Reduced kept = of_nodes("CONFIG=a.env\necho 'mode = THREADS' > $CONFIG\n" + list + adds +
                                "mpirun ./a in=b.psf\n");
  CHECK(kept.became("echo \"hosts") == Became::set_up);
  CHECK(kept.job_has("NODES=$(scontrol show hostnames"));
  const Reduced only = of_nodes("CONFIG=a.env\n> $CONFIG\n" + list + adds + "mpirun ./a\n");
  CHECK(only.became("echo \"hosts") == Became::unnecessary);
}

TEST_CASE("a line that begins with an option is no program") {
  const Reduced cut = of_nodes("srun ./a \\\n  --b\n  --xx 1 \\\n  --d\n");
  CHECK(cut.says("--xx", "is a backslash missing at the end of the line before?"));
  CHECK(cut.became("--xx") == Became::lost);
  CHECK_FALSE(cut.job_has("--xx"));
  CHECK_FALSE(cut.job_has("[[steps]]"));
  const Reduced last = of_one_node("./prepare a\n./solve -i a\n  -o b\n");
  CHECK(last.became("./solve") == Became::program);
  CHECK_FALSE(last.job_has("-o"));
  CHECK_FALSE(of_nodes("pip install a\n  -r b\nsrun ./a\n").job_has("-r b"));
}

TEST_CASE("a port in the job's comment is the program's") {
  const Reduced job = of_one_node(
      "PORT=$(python3 -c 'print(5)')\nscontrol update JobId=$SLURM_JOB_ID Comment=\"$PORT\"\n"
      "/usr/sbin/sshd -D -p \"$PORT\"\n");
  CHECK(job.became("scontrol update") == Became::set_up);
  CHECK(job.job_has("PORT=$(python3"));
  CHECK(job.job_has("sshd -D -p \\\"$PORT\\\""));
}
