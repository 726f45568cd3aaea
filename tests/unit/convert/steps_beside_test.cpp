// SPDX-License-Identifier: Apache-2.0
// Steps that a script starts beside its programs, which no set-up can start.
#include "tests/unit/convert/reduced.hpp"

using namespace dts;
using namespace dts::convert;

namespace {

constexpr const char* k_names = "scontrol show hostnames \"$SLURM_JOB_NODELIST\"";

}  // namespace

TEST_CASE("each node runs the command of a step in a condition, list or function itself") {
  const Reduced made = of_nodes(
      "srun mkdir -p /tmp/x && cp a.txt b.txt\n"
      "if [ -f data.tar ]; then\n  srun --ntasks-per-node=1 tar -xf data.tar -C /tmp/x\nfi\n"
      "unpack() { srun -N2 -n2 tar -xf more.tar; }\nunpack\nsrun python train.py\n");
  CHECK(made.made.is_lossless());
  CHECK(made.job_has("\nmkdir -p /tmp/x && cp a.txt b.txt || true\n"));
  CHECK(made.job_has("\n  tar -xf data.tar -C /tmp/x\n"));
  CHECK(made.job_has("\nunpack() { tar -xf more.tar; }\n"));
  CHECK_FALSE(made.job_has("srun "));
}

TEST_CASE("mpirun beside the programs is such a step as well") {
  const Reduced made = of_nodes(
      "mpirun -N 1 bash -c 'echo $(hostname): $(cat /etc/machine-id 2>/dev/null | tr -d x)'\n"
      "mpirun -N 1 mkdir -p /tmp/x\nmpirun ./a.out\n");
  CHECK(made.became("mpirun -N 1 bash") == Became::unnecessary);
  CHECK(made.became("mpirun -N 1 mkdir") == Became::set_up);
  CHECK(made.job_has("\nmkdir -p /tmp/x"));
  // What the inner shell writes to a file is no print.
  CHECK(of_nodes("srun bash -c 'echo x > /tmp/y'\nsrun ./a.out\n").became("srun bash") ==
        Became::set_up);
}

TEST_CASE("a launcher that is asked for its version starts no step") {
  const Reduced made = of_nodes("mpirun --version\nsrun ./a\n");
  CHECK(made.became("mpirun") == Became::unnecessary);
  CHECK(made.made.is_lossless());
}

TEST_CASE("a list of hosts is made without a step") {
  const Reduced made = of_nodes(
      "srun hostname > hosts.txt\nsrun -N2 -n2 hostname -s | sort > sorted.txt\n"
      "srun hostname > unused.txt\nALL=$(srun hostname | sort)\n"
      "srun python train.py --hosts hosts.txt sorted.txt \"$ALL\"\n");
  CHECK(made.made.is_lossless());
  CHECK(made.job_has(std::string(k_names) + " > hosts.txt"));
  CHECK(made.job_has(std::string(k_names) + " | sort > sorted.txt"));
  CHECK(made.job_has(std::string("ALL=$(") + k_names + " | sort)"));
  CHECK(made.says("srun hostname > hosts.txt", "on the first node only"));
  // With several tasks a node is named as often.
  const std::string tasks = "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=4\n";
  const Reduced several(tasks + "srun hostname > hosts.txt\nsrun python train.py hosts.txt\n");
  CHECK(several.became("srun hostname") == Became::lost);
  const Reduced one(tasks + "srun -n1 hostname > first.txt\nsrun python train.py first.txt\n");
  CHECK(one.job_has(std::string(k_names) + " | head -n 1 > first.txt"));
}

TEST_CASE("addresses of all nodes are not that of the first one") {
  const Reduced all = of_nodes(
      "IP_LIST=$(srun hostname -i)\nIP=$(srun -n1 hostname -i)\n"
      "ALL_IP=$(srun hostname -i)\n"
      "srun python train.py $IP $ALL_IP\n");
  CHECK(all.became("ALL_IP") == Became::lost);
  CHECK(all.became("IP=") != Became::lost);
}

TEST_CASE("a line whose step no node can run for all is lost") {
  const Reduced made = of_nodes(
      "retry() { for i in 1 2; do \"$@\" && return; done; }\nretry srun -n1 ./fetch\n"
      "srun nvidia-smi > gpus.txt\nsrun python train.py\n");
  CHECK(made.became("retry srun") == Became::lost);
  CHECK(made.became("srun nvidia-smi") == Became::lost);
  CHECK(made.became("retry()") == Became::set_up);
}

TEST_CASE("a function that prints and runs its arguments goes, wherever it is called") {
  const std::string run = "run() {\n  echo \"$@\"\n  time $@\n}\n";
  const Reduced quoted =
      of_nodes(run + "run srun -N\"$SLURM_NNODES\" python \"$HOME/train.py\" \"$EXTRA\"\n");
  CHECK(quoted.made.is_lossless());
  CHECK(quoted.job_has("exec python $HOME/train.py $EXTRA"));
  CHECK(quoted.became("\" \"$EXTRA") == Became::program);
  const Reduced nested = of_nodes(run + "if [ -f a ]; then\n  run srun python train.py\nfi\n");
  CHECK(nested.became("  run srun") == Became::program);
  // $@ would split it at its blank.
  CHECK_FALSE(of_nodes(run + "run srun python train.py 'a b'\n").job_has("exec python"));
}

TEST_CASE("a job that only moves files has the last such line as its program") {
  const Reduced made = of_one_node(
      "printenv\ncd /tmp/x\ngit clone https://host/data.git\ntar -czf data.tgz data\n"
      "cp data.tgz /store/\n");
  CHECK(made.became("cp data.tgz") == Became::program);
  CHECK(made.became("git clone") == Became::set_up);
  CHECK_FALSE(made.job_has("teardown"));  // which has seconds
  CHECK(of_one_node("mamba create -n env python\n").became("mamba") == Became::program);
  // What it writes is what it is for.
  CHECK(of_one_node("cat *.jsonl > all.jsonl\n").job_has("cat *.jsonl > all.jsonl"));
}

TEST_CASE("an argument that the script cannot do without is to be filled in") {
  const std::string body = "source activate $1\nDATA=$2\npython train.py --data $DATA\n";
  const Reduced without = of_one_node(body);
  CHECK(without.became("source activate") == Became::fill_in);
  CHECK(without.became("DATA=$2") == Became::fill_in);
  CHECK(without.job_has("# arguments of the script: $1, $2\n"));
  const Reduced with(without.text, {"env", "/data"});
  CHECK(with.became("source activate") == Became::set_up);
  CHECK_FALSE(with.job_has("# arguments"));
  // Where the program gets them, there is a place for each.
  CHECK(without.job_has("DATA=$2\nexport DATA"));
  CHECK(without.job_has("exec python train.py --data $DATA"));
  const Reduced direct = of_one_node("X=$1\nsrun python a.py $X \"$2\" --seed=$3\n");
  CHECK(direct.job_has("# arguments of the script: $1, $2, $3\n"));
  CHECK(direct.job_has(R"(exec python a.py $X \"$2\" --seed=$3)"));
  const Reduced inner =
      of_one_node("X=$1\nY=$2\nsrun bash -c \"module load a\npython a.py $X-$Y\"\n");
  CHECK(inner.job_has("export X Y\n"));
  CHECK(inner.job_has("module load a\npython a.py $X-$Y"));
  // The inner shell has another X, or no arguments without a name before them.
  CHECK(of_one_node("X=$1\nsrun bash -c \"X=5; python a.py $X\"\n").job_has("X=5; python a.py '"));
  CHECK(of_one_node("srun bash -c \"cd /tmp; python a.py $2\"\n")
            .job_has(R"(["bash", "-c", "cd /tmp; python a.py $2", ")"));
  // Checks of arguments that nobody gives would end the job.
  for (const char* check : {"if [ -z \"$1\" ]; then echo usage; exit 1; fi",
                            "[ $# -eq 1 ] || { echo usage: $0 DATA; exit 1; }"}) {
    const Reduced checked = of_one_node(std::string(check) + "\nDATA=$1\nsrun python a.py $DATA\n");
    CHECK(checked.became(std::string(check).substr(0, 4)) == Became::unnecessary);
    CHECK_FALSE(checked.job_has("exit 1"));
    CHECK(Reduced(checked.text, {"x"}).job_has("python"));
  }
  CHECK(of_one_node("DATA=${1:?usage}\nsrun python a.py $DATA\n").became("DATA") ==
        Became::fill_in);
  CHECK(of_one_node("cat > cfg <<E\nlr: $2\nE\nsrun python a.py\n")
            .job_has("# arguments of the script: $2\n"));
  CHECK_FALSE(of_one_node("cat > cfg <<'E'\nlr: $2\nE\nsrun python a.py\n").job_has("# arguments"));
  // It has a default, is asked for, or all are handed on.
  CHECK(of_one_node("python train.py ${1:-x} \"$@\"\n").became("python") == Became::program);
  CHECK(of_one_node("if [ -n \"$1\" ]; then SEED=$1; fi\npython train.py $SEED\n").became("if [") ==
        Became::set_up);
  CHECK(of_one_node("f() { export A=$1; }\nf x\npython train.py\n").became("f()") ==
        Became::set_up);
}

TEST_CASE("values of --time and --export as sbatch takes them") {
  const auto of_option = [](const std::string& option) {
    return Reduced("#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH " + option + "\nsrun ./a\n");
  };
  CHECK(of_option("--time=0").job_has("time = \"UNLIMITED\""));
  CHECK(of_option("--time=00:00:00").job_has("time = \"UNLIMITED\""));
  CHECK(of_option("--time=10").job_has("time = \"10\""));
  CHECK(of_option("--export=NONE").job_has("export = \"NONE\""));
  CHECK(of_option("--export=HOME,A=1").job_has("export = \"HOME,A=1\""));
  CHECK(of_option("--export=ALL").became("--export") == Became::unnecessary);
  CHECK(of_option("--export=a-b").became("--export") == Became::lost);
}

TEST_CASE("more ranks than GPUs share them, if each GPU gets as many") {
  const auto of_ranks = [](const std::string& ranks) {
    return Reduced("#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gres=gpu:4\n#SBATCH " + ranks +
                   "\nsrun ./a\n");
  };
  for (const std::string ranks : {"--ntasks-per-node=8", "--ntasks=16"}) {
    CAPTURE(ranks);
    const Reduced shared = of_ranks(ranks);
    CHECK(shared.made.is_lossless());
    CHECK(shared.job_has("ntasks_per_gpu = 2\n"));
    CHECK(shared.says("srun", "2 ranks share each GPU"));
  }
  CHECK_FALSE(of_ranks("--ntasks-per-node=4").job_has("ntasks_per_gpu"));
  CHECK_FALSE(of_ranks("--ntasks-per-node=6").made.is_lossless());
}

TEST_CASE("date in a tear-down is the time then") {
  const Reduced made = of_one_node(
      "start=$(date +%s)\npython train.py\nend=$(date +%s)\ncp log.txt out-$((end - start)).txt\n");
  CHECK(made.became("end=") == Became::tear_down);
  CHECK_FALSE(made.says("end=", "the run's beginning"));
}

TEST_CASE("a server keeps the port that an exported address or a file has") {
  const std::string ray = "ray start --head --node-ip-address=$ip --port=$port --block &\n";
  const std::string head =
      "node=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)\n"
      "ip=$(srun -N1 -n1 -w $node hostname --ip-address)\nport=6379\n";
  const std::string run = "srun -N1 -n1 -w $node " + ray + "python tune.py\n";
  CHECK(of_one_node(head + "ip_head=$ip:$port\nexport ip_head\n" + run).job_has("--port=6379 "));
  CHECK(of_one_node(head + "export ip_head=$ip:$port\n" + run).job_has("--port=6379 "));
  CHECK(of_one_node(head + "echo \"port: $port\" > ray.yaml\n" + run).job_has("--port=6379 "));
  CHECK(of_one_node(head + run).job_has("--port=$MASTER_PORT "));
  CHECK(of_one_node(head + "export MASTER_PORT=$port\n" + run).job_has("--port=$MASTER_PORT "));
}

TEST_CASE("a function that only finds the master is not needed, and nothing remains of it") {
  const Reduced made = of_nodes(
      "meet() {\n  local all\n  all=$(scontrol show hostnames $SLURM_JOB_NODELIST)\n"
      "  MASTER_ADDR=$(echo $all | head -n 1)\n"
      "  MASTER_PORT=$(srun -N1 -n1 python -c 'print(1)')\n  export MASTER_ADDR MASTER_PORT\n}\n"
      "power() { local p=1; while (( p < 9 )); do (( p *= 2 )); done; echo $p; }\n"
      "meet\nexport N=$(power)\nsrun python a.py\n");
  CHECK(made.made.is_lossless());
  CHECK(made.became("meet() {") == Became::unnecessary);
  CHECK(made.became("meet\n") == Became::unnecessary);
  CHECK(made.became("power()") == Became::set_up);
  CHECK_FALSE(made.job_has("MASTER"));
}

TEST_CASE("what removes or moves files is not done again before later steps") {
  const Reduced made = of_one_node(
      "rm -rf out\nmkdir -p out\n[ -d old ] && mv old older\npython a.py\npython b.py\n");
  const std::string& job = made.made.job_file;
  const std::size_t second = job.find("b.py");
  REQUIRE(second != std::string::npos);
  CHECK(job.find("rm -rf out") == job.rfind("rm -rf out"));
  CHECK(job.find("mv old") == job.rfind("mv old"));
  CHECK(job.find("mkdir -p out") < second);
  CHECK(job.rfind("mkdir -p out") > second);
}

TEST_CASE("an output file that a later line reads is written, or its loss is reported") {
  const Reduced kept = of_one_node("python a.py > $OUT/a.log 2>&1\ncp \"$OUT/a.log\" keep\n");
  CHECK(kept.job_has("python a.py > $OUT/a.log 2>&1"));
  CHECK(kept.made.is_lossless());
  const Reduced tee = of_one_node("python a.py | tee a.log\npython b.py --log=a.log\n");
  CHECK(tee.job_has("python a.py | tee a.log"));
  const Reduced ranks = of_nodes("srun python a.py > a.log\ngrep loss a.log > loss\n");
  CHECK(ranks.became("srun") == Became::lost);
  CHECK(ranks.says("srun", "a.log, the file of its output, is read by a later line"));
  const auto reads = [](const std::string& file, const std::string& reader) {
    const Reduced made = of_nodes("D=out\nsrun ./a > " + file + "\n" + reader + "\n");
    return made.says("srun", "is read by a later line");
  };
  for (const char* reader : {"grep loss out/*.log > l", "cp -r out/t* x", "tar cf x.tar */*.log"}) {
    CAPTURE(reader);
    CHECK(reads("out/train.log", reader));
    CHECK(reads("$D/train.log", reader));
    CHECK(reads("\"$D/train_$SLURM_JOB_ID.log\"", reader));
  }
  for (const char* reader : {"grep loss in/*.log > l",
                             "cp out/*.txt x",
                             "rm -f out/*.log",
                             "cp *.log x",
                             "cp -r $TMPDIR/* x",
                             "chmod 640 out/*.log",
                             "rsync -a --exclude 'out/*.log' in x",
                             "[[ $X == out/*.log ]] && touch x"})
    CHECK_FALSE(reads("out/train.log", reader));
  CHECK_FALSE(reads("$D/train.log", "cp -r $TMPDIR/* x"));
  CHECK(reads("$D/train.log", "cp -r $D/* x"));
  CHECK(reads("out/train.log", "for f in out/*.log; do gzip $f; done"));
  CHECK_FALSE(of_one_node("python a.py > a.log\necho see a.log\nrm a.log\n").job_has("> a.log"));
}

TEST_CASE("a file for people is written, although it names a node") {
  const Reduced made = of_one_node(
      "HOST=$(hostname)\necho \"ssh -L 8888:$HOST:8888\" > how_to_connect\n"
      "echo \"$(hostname) slots=4\" > hostfile\njupyter lab\n");
  CHECK(made.became("echo \"ssh") == Became::set_up);
  CHECK(made.became("HOST=") == Became::set_up);
  CHECK(made.became("echo \"$(hostname) slots") == Became::unnecessary);
}

TEST_CASE("ranks of mpirun in a job of fewer tasks share its cores") {
  const std::string job = "#!/bin/bash\n#SBATCH --nodes=1 --ntasks=1 --cpus-per-task=40\n";
  const Reduced shared(job + "horovodrun -np 4 -H localhost:4 python a.py\n");
  CHECK(shared.job_has("cpus_per_task = 10\n"));
  CHECK(shared.says("horovodrun", "4 ranks share the 40 cores of the job"));
  CHECK(Reduced("#!/bin/bash\n#SBATCH --nodes=1 --ntasks=4 --cpus-per-task=10\nmpirun -np 4 ./a\n")
            .job_has("cpus_per_task = 10\n"));
  CHECK(Reduced("#!/bin/bash\n#SBATCH --ntasks=64 --cpus-per-task=1\nsrun ./a\n")
            .says("srun", "all ranks are on one node"));
}

TEST_CASE("variables that a file of settings may set reach the program") {
  const Reduced made = of_one_node(
      "source ./settings.sh\nexport A=1\nB=2\nsrun bash -c \"python a.py $ARGS $HOME $A $B; "
      "date\"\n");
  CHECK(made.job_has("\nexport ARGS\n"));
  CHECK_FALSE(of_one_node("source venv/bin/activate\nsrun bash -c \"python a.py $ARGS; date\"\n")
                  .job_has("export ARGS"));
}

TEST_CASE("numbers and names that a script draws are the same on all nodes") {
  const Reduced made = of_nodes(
      "export PASS=$(uuidgen)\nexport PORT=$(shuf -i 20000-30000 -n 1)\nsrun python a.py\n");
  CHECK(made.job_has("\nuuidgen() { "));
  CHECK(made.job_has("\nshuf() { command shuf --random-source="));
  CHECK(made.says("export PASS", "the same in all ranks and attempts"));
  CHECK_FALSE(of_nodes("shuf train.txt > t\nsrun python a.py\n").job_has("shuf()"));
}

TEST_CASE("a choice by an argument that starts nothing without it asks for it") {
  const std::string choice =
      "if [ \"$1\" = a ]; then python a.py; elif [ $1 = b ]; then python b.py";
  CHECK(of_one_node(choice + "; fi\n").became("if [") == Became::fill_in);
  CHECK(of_one_node(choice + "; else python c.py; fi\n").became("if [") == Became::program);
  CHECK(of_one_node("case $1 in a) python a.py ;; esac\n").became("case") == Became::fill_in);
  CHECK(of_one_node("case $1 in a) python a.py ;; *) python b.py ;; esac\n").became("case") ==
        Became::program);
}

TEST_CASE("a message at the end is not the program") {
  const std::string work =
      "python -u -c \"import work;\n" + std::string(120, '#') + "\nwork.run()\"\n";
  const Reduced made = of_one_node(work + "aws sns publish --message done\n");
  CHECK(made.became("python") == Became::program);
  CHECK(made.became("aws") == Became::tear_down);
  CHECK(of_one_node("$JOB\necho \"$JOB\" > out/job.log\n").became("echo") == Became::tear_down);
  CHECK(of_one_node("python -c 'import x'\naws s3 cp a s3://b\n").became("aws") == Became::program);
}

TEST_CASE("what is refused of some steps is taken out of these, however many they are") {
  std::string body = "python first.py\n";
  for (int i = 0; i < 30; ++i)
    body += "mkdir " + std::string(600, 'x') + "\npython a.py " + std::to_string(i) + "\n";
  const Reduced made = of_one_node(body);
  CHECK_FALSE(made.made.job_file.empty());
  CHECK(made.became("python a.py 0") == Became::program);
  CHECK(made.became("python a.py 29") == Became::lost);
  CHECK(made.says("python a.py 29", "--setup"));
}

TEST_CASE("a server that the script leaves on its own node is not started by each role") {
  const Reduced made = of_nodes(
      "nodes=($(scontrol show hostnames $SLURM_JOB_NODELIST))\nray start --head --port=6379 &\n"
      "watch_gpus() { nvidia-smi; }\nwatch_gpus &\n"
      "srun -N1 -n1 -w ${nodes[1]} ray start --address=${nodes[0]}:6379 --block &\npython a.py\n");
  CHECK(made.job_has("[[roles]]"));
  CHECK(made.became("ray start --head") == Became::lost);
  CHECK(made.became("watch_gpus &") == Became::set_up);
  CHECK_FALSE(made.job_has("ray start --head"));
}

TEST_CASE("$PWD is the script's folder, also where a program starts in another one") {
  const Reduced made = of_nodes(
      "srun --container-image=/i.sqsh --container-mounts=/a:/a --container-workdir=/a "
      "python $PWD/a.py --out ${PWD}/out\n");
  CHECK(made.job_has("cd /a || exit\nexec python $OLDPWD/a.py --out $OLDPWD/out"));
  CHECK(of_nodes("srun bash -c 'date; ls' $PWD\n").job_has("$PWD"));
}
