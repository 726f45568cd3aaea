// SPDX-License-Identifier: Apache-2.0
// The job file beside the script, as the script's author would read them: reductions of scripts of
// public repositories.
#include "tests/unit/convert/reduced.hpp"

using namespace dts;
using namespace dts::convert;

TEST_CASE("only the folder of the submission itself is where the job runs") {
  for (const std::string folder : {"$SLURM_SUBMIT_DIR",
                                   "\"${SLURM_SUBMIT_DIR}\"",
                                   "${SLURM_SUBMIT_DIR:-.}",
                                   "${SLURM_SUBMIT_DIR:?}",
                                   "\"${SLURM_SUBMIT_DIR?not in a job}\"",
                                   "$SLURM_SUBMIT_DIR//",
                                   "$SLURM_SUBMIT_DIR/"}) {
    CAPTURE(folder);
    const Reduced made = of_one_node("cd " + folder + "\nsrun ./a\n");
    CHECK(made.became("cd ") == Became::unnecessary);
    CHECK(made.job_has("command = [\"./a\"]"));
  }
  for (const std::string folder : {"$SLURM_SUBMIT_DIR/$SLURM_JOB_ID",
                                   "${SLURM_SUBMIT_DIR}/run_${SLURM_JOB_ID}",
                                   "$X$SLURM_SUBMIT_DIR",
                                   "${SLURM_SUBMIT_DIR%/*}",
                                   "${SLURM_SUBMIT_DIR:?}/..",
                                   "$SLURM_SUBMIT_DIR//out",
                                   "$(dirname ${SLURM_SUBMIT_DIR})"}) {
    CAPTURE(folder);
    const Reduced made = of_one_node("cd " + folder + "\nsrun ./a\n");
    CHECK(made.became("cd ") == Became::set_up);
    CHECK(made.job_has("cd \"${SCRIPT_FOLDER:?}\" || exit\nexec ./a"));
  }
}

TEST_CASE("a program that begins with the exit code of a line of the set-up gets it") {
  for (const std::string program : {"if [ $? -eq 0 ]; then\n  srun python train.py\nfi\n",
                                    "[ $? -eq 0 ] && srun python train.py\n",
                                    "if (( $? == 0 )); then srun python train.py; fi\n"}) {
    CAPTURE(program);
    const Reduced made = of_one_node("ping -c 1 server > /dev/null\n" + program);
    CHECK(made.made.is_lossless());
    CHECK(made.job_has("ping -c 1 server > /dev/null && true\nexport SCRIPT_CODE=$?\n"));
    CHECK(made.job_has("(exit \"${SCRIPT_CODE:?}\") && true\n"));
    CHECK_FALSE(
        of_one_node("ping server\necho there\n" + program).job_has("export SCRIPT_CODE=$?"));
  }
  CHECK_FALSE(
      of_one_node("ping server\nif a; then srun ./b; echo $?; fi\n").job_has("SCRIPT_CODE"));
  CHECK(of_one_node("ping server | tee log\nif [ ${PIPESTATUS[0]} -eq 0 ]; then srun ./b; fi\n")
            .says("if [", "PIPESTATUS"));
  const std::string fetched = "git pull\nif [ $? -eq 0 ]; then srun ./b; fi\n";
  CHECK(of_one_node(fetched).became("if [") == Became::program);
  const Reduced nodes = of_nodes(fetched);  // all have the first node's code
  CHECK(nodes.made.is_lossless());
  CHECK(nodes.job_has("await_first_node 0 && true\nfi\nexport SCRIPT_CODE=$?\n"));
}

TEST_CASE("what is installed behind a program is work, for which a tear-down has no time") {
  const Reduced made = of_one_node(
      "python3 -m venv env\nsource env/bin/activate\npip3 install --pre torch torchvision\n");
  CHECK(made.made.is_lossless());
  CHECK(made.became("source env") == Became::set_up);
  CHECK(made.became("pip3 install") == Became::program);
  CHECK_FALSE(made.job_has("teardown"));
  for (const std::string line : {"conda env create -f env.yml\n", "git clone https://x/y.git\n"})
    CHECK(of_one_node("python a.py\n" + line).became(line) == Became::program);
  for (const std::string line : {"pip list > env.txt\n", "git commit -m results out\n"})
    CHECK(of_one_node("python a.py\n" + line).became(line) == Became::tear_down);
}

TEST_CASE("a name that each node would make for itself in a shared folder is lost") {
  const std::string use = "cat > $F <<EOF\necho hello\nEOF\nsrun bash $F\n";
  for (const std::string name : {"F=$(mktemp -p $SCRATCH/group)\n",
                                 "F=$(mktemp job.XXXX)\n",
                                 "F=out/run_$$\n",
                                 "F=`mktemp --tmpdir=/scratch`\n",
                                 "F=$(mktemp -t -p/scratch x.XXX)\n",
                                 "F=$(mktemp --suffix .sh out/x.XXX)\n",
                                 "F=$(mktemp -dp $HOME/.local/x)\n",
                                 "F=${OUT:-$SCRATCH/x_$$}\n",
                                 "F=$(echo out/x_$$)\n",
                                 "read F <<< out/x_$$\n",
                                 "F=$HOME/tmp_$$\n",
                                 "F=$SCRATCH/tmp/x_$$\n"}) {
    CAPTURE(name);
    CHECK(of_nodes(name + use).says("srun bash", "the set-up of each node makes a name"));
    CHECK(of_one_node(name + use).made.is_lossless());
  }
  for (const std::string name : {"F=$(mktemp)\n",
                                 "F=$(mktemp -d -p $TMPDIR)\n",
                                 "F=/tmp/run_$$\n",
                                 "F=$(mktemp -d /tmp/x.XXXX)\n",
                                 "F=$(mktemp -t train.XXXXXX)\n",
                                 "F=$(mktemp -dt x.$$.XXX)\n",
                                 "F=$(mktemp --suffix .sh)\n",
                                 "F=$(mktemp --suffix=.sh)\n",
                                 "F=$(mktemp -d --tmpdir=$TMPDIR)\n",
                                 "F=$(mktemp --tmpdir=/tmp)\n",
                                 "F=$(mktemp --tmpdir x.XXX)\n",
                                 "F=$(mktemp -p \"$LSCRATCH\" x.XXX)\n",
                                 "F=$(mktemp -p${JOBSCRATCH} x.XXX)\n",
                                 "F=${TMPDIR:-/tmp}/x_$$\n",
                                 "F=${OUT:-/tmp/x_$$}\n",
                                 "F=/raid/$USER/x_$$\n",
                                 "F=/tmp/x_$(($$ % 10))\n",
                                 "F=/tmp/x_$$ && echo $$ > $F\n",
                                 "eval F=/tmp/x_$$\n",
                                 "F=$SCRATCH/$SLURM_JOB_ID\n"}) {
    CAPTURE(name);
    CHECK(of_nodes(name + use).made.is_lossless());
  }
  CHECK(of_nodes("export OUT=$(mktemp -d -p $SCRATCH)\nsrun ./a\n").became("srun") == Became::lost);
  for (const std::string name : {"CACHE_DIR", "MPLCONFIGDIR", "SINGULARITY_TMPDIR", "WANDB_TEMP"})
    for (const std::string value : {"$(mktemp -d -p $SCRATCH)", "$SCRATCH/s_$$"}) {
      CAPTURE(name);
      CHECK(of_nodes("export " + name + "=" + value + "\nsrun ./a\n").made.is_lossless());
    }
  for (const std::string seed :
       {"SEED=$$", "SEED=$(($$ % 100))", "SEED=1$$", "((SEED = $$ % 9))", "let SEED=$$%9"}) {
    CAPTURE(seed);
    const Reduced made = of_nodes(seed + "\nsrun ./a $SEED\n");
    CHECK(made.says("srun", "the set-up of each node computes $$ anew"));
    CHECK_FALSE(made.says("srun", "files"));
  }
}

TEST_CASE("an option's value that is the name of a launcher starts no step") {
  const std::string rest = "NP=$(cat NP)\nsrun ./a $NP\n";
  CHECK(of_one_node("check_pinning.py -nv 2 -mt srun\n" + rest).became("check") == Became::set_up);
  CHECK(of_one_node("./retry 3 srun ./prepare\n" + rest).became("./retry") == Became::lost);
}

TEST_CASE("a job whose launcher is not known keeps its number of nodes") {
  const Reduced made =
      of_nodes("CMD=(srun -l)\nfor n in $(cat nodes); do CMD+=(-w $n); done\n\"${CMD[@]}\" ./a\n");
  CHECK(made.became("\"${CMD") == Became::lost);
  CHECK(made.job_has("nodes = 2\n"));
  CHECK(made.row("--nodes").what == "nodes = 2");
}

TEST_CASE("a loop whose iterations end the script after a failure is written out") {
  const std::string begin =
      "CONFIGS=(\"4,1\" \"2,2\")\nRUN=\"srun --mpi=pmix\"\nif [ -n \"$X\" ]; then\n"
      "  RUN=\"$RUN --mem=0\"\nfi\n"
      "for C in \"${CONFIGS[@]}\"; do\n  IFS=, read -r TP PP <<< \"$C\"\n";
  for (const std::string end : {"  $RUN python a.py $TP\n  RC=$?\n  if [ $RC -ne 0 ]; then\n"
                                "    echo \"failed: $RC\"\n    exit $RC\n  fi\ndone\n",
                                "  $RUN python a.py $TP || exit 1\ndone\n"}) {
    CAPTURE(end);
    const Reduced made("#!/bin/bash\n#SBATCH -N2 --ntasks-per-node=4\nX=\n" + begin + end);
    CHECK(made.made.is_lossless());
    CHECK(made.job_has("name = \"a\""));
    CHECK(made.job_has("name = \"a-2\""));
    CHECK(made.job_has("mpi = \"pmix\""));
  }
  const Reduced early =
      of_nodes("for i in 1 2; do\n  if [ -f done_$i ]; then exit 0; fi\n  srun ./a $i\ndone\n");
  CHECK(early.became("if [ -f done") == Became::lost);
  const Reduced left = of_nodes("for i in 1 2; do\n  srun ./a $i\n  [ -f done ] && break\ndone\n");
  CHECK(left.became("for i") == Became::lost);
}

TEST_CASE("of a container's lists, what is known is kept") {
  const Reduced mounts = of_nodes(
      "LIB=$(dirname $(ls /opt/mpi/lib/libmpi.so))\nsrun --container-image=/a.sqsh "
      "--container-mounts=/data:/data,$LIB:$LIB,/tmp/$SLURM_JOB_ID:/x,/out:/out ./a\n");
  CHECK(mounts.became("srun") == Became::lost);
  CHECK(mounts.job_has("mount = [\"/data:/data\", \"/out:/out\"]"));
  CHECK(mounts.says("srun", "--container-mounts=$LIB:$LIB,/tmp/$SLURM_JOB_ID:/x: its value"));
  const Reduced names = of_nodes(
      "source /opt/nccl/profile.sh\nexport NCCL_DEBUG=WARN\n"
      "VARS=$(sed 's/ \\{1,\\}/,/g' <<<\"${!NCCL*}\")\n"
      "srun --container-image=/a.sqsh --container-env=\"$VARS\" ./a\n");
  CHECK(names.made.is_lossless());
  CHECK(names.job_has("container_env = [\"NCCL_DEBUG\"]"));
  CHECK(names.says("srun", "the variables that the set-up exports"));
  const auto with_names = [](const std::string& list) {
    return of_nodes("export NCCL_DEBUG=WARN\nVARS=" + list +
                    "\nsrun --container-image=/a.sqsh --container-env=\"$VARS\" ./a\n");
  };
  const std::string joined = " | tr ' ' ',')";
  for (const std::string list : {"$(echo ${!NCCL*}", "$(echo ${!X} \"${!NCCL@}\""})
    CHECK(with_names(list + joined).job_has("container_env = [\"NCCL_DEBUG\"]"));
  for (const std::string list : {"$(cat ${!X} *.txt", "$(cat ${!X} a@b{1}", "$(echo ${!X[@]}"})
    CHECK(with_names(list + joined).became("srun") == Became::lost);
  CHECK(
      of_nodes("srun --container-image=/a.sqsh --container-env=$(./names) ./a\n").became("srun") ==
      Became::lost);
}

TEST_CASE("the program of a pipeline is what its launcher starts") {
  const Reduced made =
      of_nodes("export LIST=$(sort_nodes.py)\nsrun -l hostname | sort | uniq -c\n");
  CHECK(made.job_has("hostname | sort | uniq -c"));
  CHECK(made.job_has("launcher = \"srun\""));
  CHECK(made.row("srun -l").why ==
        "`sort`, `uniq` alongside the program: every rank would run them");
}

TEST_CASE("lines that print are told from lines that check, and those that act again are named") {
  const std::string steps = "srun python a.py\nsrun python b.py\n";
  for (const std::string line : {"env | grep SLURM | sort\n",
                                 "nvidia-smi | head -n 20\n",
                                 "cat <<EOF\nJob $SLURM_JOB_ID\nEOF\n"})
    CHECK(of_nodes(line + steps).became(line) == Became::unnecessary);
  for (const std::string line : {"nvidia-smi | grep -q A100\n",
                                 "cat config.yaml | sort\n",
                                 "echo data | ./prepare\n",
                                 "env | grep SLURM > env.txt\n",
                                 "cat <<EOF > conf\nx\nEOF\n"})
    CHECK(of_nodes(line + steps).became(line) == Became::set_up);
  for (const std::string line : {"nvcc -o a a.cu\n",
                                 "nvidia-smi -c EXCLUSIVE_PROCESS\n",
                                 "nvidia-smi --power-limit=200\n",
                                 "srun nvidia-smi -pm 1\n",
                                 "rocm-smi --setperflevel high\n"})
    CHECK(of_nodes(line + steps).became(line) == Became::set_up);
  for (const std::string line : {"nvcc --version\n",
                                 "nvidia-smi -q -d MEMORY --id=0\n",
                                 "srun -c 4 nvidia-smi --query-gpu=name --format=csv\n",
                                 "srun --container-image=a -n 2 nvidia-smi topo -m\n",
                                 "rocm-smi --showmeminfo vram\n"})
    CHECK(of_nodes(line + steps).became(line) == Became::unnecessary);
  for (const std::string line : {"pip install -r a.txt\n", "wandb login $KEY\n", "git pull\n"})
    CHECK(of_nodes(line + steps).says(line, "runs again before each later step"));
  for (const std::string line : {"ls -la data | head\n", "cat hosts\n", "nvidia-smi | grep -q A\n"})
    CHECK_FALSE(of_nodes(line + steps).says(line, "runs again"));
}

TEST_CASE("words in brackets are a blank of the script") {
  const Reduced made(
      "#!/bin/bash\n#SBATCH --account=[INSERT ACCOUNT HERE]\n#SBATCH --nodes=1 -n1 -c4\n"
      "#SBATCH --job-name=[JOB NAME]\n#SBATCH --exclude=node[1-4] # [as you like]\nsrun ./a\n");
  CHECK(made.became("--account") == Became::fill_in);
  CHECK(made.became("ACCOUNT HERE") == Became::fill_in);
  CHECK(made.job_has("# account = \"[INSERT ACCOUNT HERE]\""));
  CHECK(made.job_has("# job_name = \"[JOB NAME]\""));
  CHECK(made.became("--exclude") == Became::option);
  const Reduced named = of_one_node("#SBATCH --output=\"out [a b].log\"\nsrun ./a\n");
  CHECK(named.became("--output") != Became::fill_in);
}

TEST_CASE("an array that read fills is handed on as one, and let sets a variable") {
  for (const std::string read : {"IFS=, read -ra MODELS <<< \"$LIST\"\n",
                                 "read -a MODELS <<< \"$LIST\"\n",
                                 "read -d '' -ra MODELS < list\n"}) {
    CAPTURE(read);
    const Reduced made =
        of_one_node(read + "for m in \"${MODELS[@]}\"; do\n  python eval.py $m\ndone\n");
    CHECK(made.made.is_lossless());
    CHECK(made.job_has("export SCRIPT_STATE=\"$(declare -p MODELS)\""));
    CHECK_FALSE(made.job_has("export MODELS"));
  }
  const Reduced let = of_one_node("let N=(A + 2)*3\npython a.py $N\n");
  CHECK(let.made.is_lossless());
  CHECK(let.job_has("let N=(A + 2)*3 || true\nexport N\n"));
  CHECK(let.job_has("exec python a.py $N"));
}

TEST_CASE("what a script's values take of memory is bounded, and what is not read is lost") {
  std::string body = "X=" + std::string(16000, 'x') + "\nA=(\"$X\")\n";
  for (int i = 0; i < 6; ++i) body += "A=(\"${A[@]}\" \"${A[@]}\")\n";  // 1 MB
  const auto with_copies = [&body](int copies) {
    std::string text = body;
    for (int i = 0; i < copies; ++i) text += "B" + std::to_string(i) + "=(\"${A[@]}\")\n";
    return of_one_node(text + "LAST=(one two)\nsrun ./a \"${LAST[@]}\"\n");
  };
  CHECK(with_copies(4).job_has("command = [\"./a\", \"one\", \"two\"]"));
  const Reduced large = with_copies(40);
  CHECK_FALSE(large.made.is_lossless());
  CHECK(large.made.job_file.empty());
}

TEST_CASE("a monitor that is killed behind its program is not started again over its file") {
  const std::string script =
      "nvidia-smi -l 5 > gpu.csv &\nMON=$!\nsrun ./a\nkill $MON\nsrun ./plot gpu.csv\n";
  const Reduced made = of_one_node(script);
  CHECK(made.made.is_lossless());
  const std::string& file = made.made.job_file;
  CHECK(file.find("> gpu.csv") == file.rfind("> gpu.csv"));
  CHECK(file.find("kill") == std::string::npos);
  CHECK(made.became("kill $MON") == Became::unnecessary);
  CHECK_FALSE(made.says("nvidia-smi", "runs again"));
  // A server that both programs use is started for each of them.
  const Reduced server = of_one_node("./serve > log &\nS=$!\nsrun ./a\nsrun ./b\nkill $S\n");
  CHECK(server.says("./serve", "runs again"));
  CHECK(server.made.job_file.find("./serve") != server.made.job_file.rfind("./serve"));
}

TEST_CASE("a script that only says how its program ended starts the program itself") {
  for (const std::string script :
       {"srun python train.py || exit 1",
        "srun python train.py || exit",
        "srun python train.py || exit $?",
        "srun python train.py && echo done",
        "srun python train.py && echo done || { echo failed; exit 1; }",
        "srun python train.py || { echo \"failed: $?\" >&2; date; exit 2; }",
        "srun python train.py || { scontrol requeue $SLURM_JOB_ID; exit 1; }",
        "if srun python train.py; then echo done; else echo failed; exit 1; fi",
        "if srun python train.py; then\n  :\nelse\n  exit $?\nfi",
        "if ! srun python train.py; then\n  echo failed\n  exit 1\nfi",
        "if ! srun python train.py; then exit 1; else echo done; fi"}) {
    CAPTURE(script);
    const Reduced made = of_nodes(script + "\necho done\n");
    CHECK(made.made.is_lossless());
    CHECK(made.job_has("command = [\"python\", \"train.py\"]"));
    CHECK(made.says("srun python", "the run's end follows from the program's exit code"));
  }
  for (const std::string behind : {"|| exit 0",
                                   "|| exit 256",
                                   "|| exit 85",
                                   "|| exit 93",
                                   "|| exit $CODE",
                                   "|| true",
                                   "|| echo failed",
                                   "|| { echo failed; exit; }",
                                   "|| { echo failed; exit $?; }",
                                   "|| { echo failed > FAILED; exit 1; }",
                                   "|| { rm -rf cache; exit 1; }",
                                   "|| { exit 1; echo failed; }",
                                   "&& touch DONE",
                                   "&& echo done > DONE",
                                   "&& echo done || true"}) {
    CAPTURE(behind);
    CHECK(of_nodes("srun python train.py " + behind + "\n").job_has("python train.py " + behind));
  }
  for (const std::string script : {"if srun ./a; then echo done; fi",
                                   "if srun ./a; then touch DONE; else exit 1; fi",
                                   "if ! srun ./a; then exit; fi",
                                   "if ! srun ./a; then exit $?; fi",
                                   "if srun ./a; then echo done; else exit 1; fi > LOG",
                                   "if test -d x && srun ./a; then :; else exit 1; fi",
                                   "srun ./a && srun ./b || exit 1",
                                   "! srun ./a"}) {
    CAPTURE(script);
    CHECK_FALSE(of_nodes(script + "\n").job_has("command = [\"./a\"]"));
  }
}

TEST_CASE("a line whose exit code is looked at is no unnecessary one") {
  for (const std::string check : {"nvidia-smi | grep A100 > /dev/null",
                                  "nvidia-smi | grep -iq A100",
                                  "nvidia-smi | grep A100",
                                  "which nvcc > /dev/null"}) {
    CAPTURE(check);
    const Reduced made =
        of_one_node(check + "\nif [ $? -ne 0 ]; then exit 1; fi\nsrun python train.py\n");
    CHECK(made.became(check) == Became::set_up);
    const Reduced condition =
        of_one_node(check + "\nif [ $? -eq 0 ]; then srun python train.py; fi\n");
    CHECK(condition.job_has("export SCRIPT_CODE=$?"));
  }
  CHECK(of_one_node("nvidia-smi | grep A100\nsrun ./a\n").became("nvidia") == Became::unnecessary);
  for (const std::string acting :
       {"cat <<EOF\n$(./prepare)\nEOF", "echo x | sort -o out.txt", "env | sort file.txt"})
    CHECK(of_one_node(acting + "\nsrun ./a\n").became(acting.substr(0, 8)) == Became::set_up);
}

TEST_CASE("a loop that tries until a program succeeds is no sequence of steps") {
  for (const std::string loop : {"for i in 1 2; do srun ./a $i && exit 0; done",
                                 "for i in 1 2; do if srun ./a $i; then exit 0; fi; done",
                                 "for i in 1 2; do srun ./a $i; [ $? = 0 ] && exit; done"}) {
    CAPTURE(loop);
    CHECK_FALSE(of_nodes(loop + "\n").made.is_lossless());
  }
  for (const std::string loop :
       {"for i in 1 2; do srun ./a $i || exit; done",
        "for i in 1 2; do srun ./a $i; if [ $? -ne 0 ]; then exit 1; fi; done"}) {
    CAPTURE(loop);
    const Reduced made = of_nodes(loop + "\n");
    CHECK(made.made.is_lossless());
    CHECK(made.job_has("name = \"a-2\""));
  }
}

TEST_CASE("only a signal that ends a process, and only its own, ends it with a step") {
  const auto with = [](const std::string& kill) {
    return of_one_node("./server & S=$!\nsrun ./a\n" + kill + "\nsrun ./b\n");
  };
  for (const char* kill : {"kill $S", "kill -9 $S", "kill -TERM \"$S\""})
    CHECK(with(kill).became("kill") == Became::unnecessary);
  for (const char* kill : {"kill -0 $S", "kill -USR1 $S", "kill $S $T"})
    CHECK(with(kill).became("kill") != Became::unnecessary);
  CHECK(with("./other & S=$!\nkill $S").became("kill") != Became::unnecessary);
}

TEST_CASE("what only looks at environments is no installation, and a wrapper hands a step on") {
  for (const std::string line : {"conda env list", "conda env export > env.yml"})
    CHECK(of_one_node("python a.py\n" + line + "\n").became(line) != Became::program);
  for (const std::string line : {"pip --quiet install x", "git -C d clone u"})
    CHECK(of_one_node("python a.py\n" + line + "\n").became(line) == Became::program);
  CHECK_FALSE(
      of_one_node("./run.sh -v srun ./prep\nNP=$(cat NP)\nsrun ./a $NP\n").made.is_lossless());
}

TEST_CASE("an array that grows line by line is known") {
  std::string text = "RUN=\"srun --mpi=pmix\"; N=4\n";
  for (int i = 0; i < 1000; ++i)
    text += "FILES+=(/a/rather/long/folder/with/many/names/in/it/that/repeats/file-" +
            std::to_string(i) + ")\n";
  CHECK(of_one_node(text + "$RUN -n $N ./a\n").made.is_lossless());
}

TEST_CASE(
    "one word in brackets is a blank where no such value is valid, and a complete name none") {
  const std::string begin = "#!/bin/bash\n#SBATCH --time=1:00:00\n#SBATCH ";
  CHECK(Reduced(begin + "--account=[account]\nsrun ./a\n").became("--account") == Became::fill_in);
  CHECK(Reduced(begin + "--job-name=\"[exp a]\"\nsrun ./a\n").became("--job-name") ==
        Became::option);
}
