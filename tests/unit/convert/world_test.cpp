// SPDX-License-Identifier: Apache-2.0
// Loops that start a program on each node of the job.
#include "tests/unit/convert/reduced.hpp"

using namespace dts;
using namespace dts::convert;

TEST_CASE("programs that differ only in their --node_rank are one training") {
  const std::string program =
      " torchrun --nnodes=$SLURM_NNODES --node_rank=$RANK --nproc_per_node=4 train.py &\n";
  const std::string listed =
      "RANK=0\nfor n in $(scontrol show hostnames); do\n  srun -N1 -n1 -w $n" + program +
      "  RANK=$((RANK + 1))\ndone\nwait\n";
  // Each says its number, so that Slurm may choose the nodes.
  const auto anywhere = [&](const std::string& ranks) {
    return of_nodes("for RANK in " + ranks + "; do\n  srun -N1 -n1" + program + "done\nwait\n");
  };
  for (const Reduced& made : {of_nodes(listed), anywhere("0 1")}) {
    CAPTURE(made.text);
    CHECK(made.made.is_lossless());
    CHECK(made.job_has("command = [\"torchrun\", \"train.py\"]"));
  }
  for (const std::string ranks : {"0 0", "1 2", "0", "0 1 2"}) {
    CAPTURE(ranks);
    CHECK_FALSE(anywhere(ranks).made.is_lossless());
  }
}

TEST_CASE("srun --relative names nodes by their place in the job") {
  const std::string program =
      " torchrun --nnodes=$SLURM_NNODES --node_rank=$i --nproc_per_node=4 train.py &\n";
  for (const char* relative : {"-r $i", "-r$i", "--relative=$i", "--relative $((i))"}) {
    CAPTURE(relative);
    const Reduced all = of_nodes("for i in $(seq 0 $((SLURM_NNODES - 1))); do\n  srun -N1 -n1 " +
                                 (relative + program) + "done\nwait\n");
    CHECK(all.made.is_lossless());
    CHECK(all.job_has("command = [\"torchrun\", \"train.py\"]"));
  }
  const Reduced roles(
      "#!/bin/bash\n#SBATCH --nodes=4 --ntasks-per-node=1\nN=2\nsrun -N 1 -n 1 -r 0 ./scheduler &\n"
      "srun -N $N -n $N --relative=1 ./worker &\nsrun -N 1 -n 1 -r $((N + 1)) ./client -r 7\n");
  CHECK(roles.made.is_lossless());
  CHECK(roles.job_has("command = [\"./worker\"]"));
  CHECK(roles.job_has("nodes = \"2\""));
  CHECK(roles.job_has("command = [\"./client\", \"-r\", \"7\"]"));
  // Not beyond the job's nodes.
  for (const char* rest : {"-N 1 -n 1 -r 2 ./b", "-N 2 -n 2 -r 1 ./b"}) {
    CAPTURE(rest);
    CHECK_FALSE(of_nodes("srun -N 1 -n 1 -r 0 ./a &\nsrun " + std::string(rest) + "\nwait\n")
                    .made.is_lossless());
  }
  // An option of the program is none of srun's.
  CHECK(of_nodes("srun ./a -r 1\n").made.is_lossless());
}

TEST_CASE("a port of the head node is no address") {
  const Reduced job = of_nodes(
      "head_node=$(scontrol show hostnames | head -n 1)\n"
      "head_node_ip=$(ssh $head_node 'hostname --ip-address')\n"
      "head_node_port=$(ssh $head_node ./free_port.sh)\n"
      "srun ./a $head_node_ip $head_node_port\n");
  CHECK(job.job_has("./a $MASTER_ADDR $MASTER_PORT"));
  CHECK(of_nodes("head_node_port=8080\nsrun ./a $head_node_port\n").job_has("\"./a\", \"8080\""));
  CHECK(of_nodes("master_report=$(hostname).txt\nsrun ./a $master_report\n")
            .job_has("$master_report"));
}

TEST_CASE("loops that count the job's nodes in a list") {
  const std::string list = "scontrol show hostnames \"$SLURM_JOB_NODELIST\"";
  const std::string counted = "N=`" + list + " | wc -l`\n";
  const std::string array = "nodes=($(" + list + "))\n";

  struct Row {
    std::string begin, end, node;
  };

  for (const Row& row : {Row{counted, "$N", "\"$(" + list + " | sed -n \"$((i+1))p\")\""},
                         Row{"export " + counted + array, "N", "${nodes[i]}"},
                         Row{counted + array, "$N", "\"${nodes[$i]}\""}}) {
    CAPTURE(row.begin + row.end);
    const Reduced all =
        of_nodes(row.begin + "for ((i=0; i<" + row.end + "; i++)); do\n" + "  srun -N1 -n1 -w " +
                 row.node + " torchrun --nnodes 2 --node_rank $i train.py &\ndone\nwait\n");
    CHECK(all.made.is_lossless());
    CHECK(all.job_has("command = [\"torchrun\", \"train.py\"]"));
  }
  // What others print are not the nodes.
  for (const char* other : {"hostname -I | wc -w", "echo $SLURM_JOB_NODELIST | wc -w"}) {
    CAPTURE(std::string(other));
    CHECK_FALSE(of_nodes(array + "N=$(" + other +
                         ")\nfor ((i=0; i<$N; i++)); do\n  srun -N1 -n1 -w ${nodes[$i]} "
                         "torchrun --nnodes 2 --node_rank $i a.py &\ndone\nwait\n")
                    .made.is_lossless());
  }
}

TEST_CASE("a loop over the list of nodes, whose names only the batch script knows") {
  const std::string loop = "for n in $(scontrol show hostnames $SLURM_JOB_NODELIST); do\n";
  const Reduced same = of_nodes(loop + "  srun -N1 -n1 -w $n ./a &\ndone\nwait\n");
  CHECK(same.made.is_lossless());
  CHECK(same.job_has("per_node = true\n"));
  // A role knows no variable of the loop.
  const Reduced named = of_nodes(loop + "  srun -N1 -n1 -w $n ./a x/$n &\ndone\nwait\n");
  CHECK_FALSE(named.made.is_lossless());
  const Reduced counted =
      of_nodes("i=0\n" + loop + "  srun -N1 -n1 -w $n ./a $i &\n  i=$((i + 1))\ndone\nwait\n");
  CHECK(counted.made.is_lossless());
  CHECK(counted.job_has("./a 0 &\ni=$((i + 1))\nwait"));
}

TEST_CASE("ranks see the GPUs that Slurm shows them: those of the node, or their own") {
  struct Case {
    const char* directives;
    const char* work;
    const char* view;  // empty: it follows from the number of ranks, or from their own processes
  };

  const Case table[] = {
      {"--gres=gpu:4 --ntasks-per-node=4", "srun python train.py", "node"},
      {"--gpus=8 --ntasks=8", "srun ./a", "node"},
      {"--gpus-per-node=4 --ntasks-per-node=2", "mpirun ./a", "node"},
      {"--gpus-per-node=4 --ntasks-per-node=4", "mpirun -np 8 ./a", "node"},
      {"--gpus-per-task=1 --ntasks-per-node=4", "srun ./a", "rank"},
      {"--gpus-per-task=1 --ntasks-per-node=4", "mpirun ./a", "node"},
      {"--gres=gpu:4 --ntasks-per-node=4", "srun --gpus-per-task=1 ./a", "rank"},
      {"--gres=gpu:4 --ntasks-per-node=4 --gpu-bind=closest", "srun ./a", "rank"},
      {"--gres=gpu:4 --ntasks-per-node=4 --gpu-bind=none", "srun ./a", "node"},
      {"--gres=gpu:4 --ntasks-per-node=4", "srun --gpu-bind=single:1 ./a", "rank"},
      {"--gres=gpu:4 --ntasks-per-node=4", "srun --tres-bind=gres/gpu:closest ./a", "rank"},
      {"--gpus-per-task=1 --ntasks-per-node=4", "srun --gpu-bind=none ./a", "node"},
      {"--gres=gpu:4 --ntasks-per-node=1", "srun ./a", ""},
      {"--gres=gpu:4 --ntasks-per-node=1", "srun torchrun --nproc_per_node=4 train.py", ""},
      {"--gres=gpu:4 --ntasks-per-node=8", "srun ./a", ""},
      {"--ntasks-per-node=4", "srun ./a", ""},
  };
  for (const Case& one : table) {
    const std::string text =
        std::string("#!/bin/bash\n#SBATCH --nodes=2 ") + one.directives + "\n" + one.work + "\n";
    CAPTURE(text);
    const Reduced made(text);
    CHECK(made.job_has("gpu_view") == (*one.view != '\0'));
    if (*one.view != '\0') CHECK(made.job_has(std::string("gpu_view = \"") + one.view + "\"\n"));
  }
}

TEST_CASE("the number of nodes in an array is known") {
  const std::string start =
      "srun -N1 -n1 -w ${NODES[$i]} torchrun --nnodes=${#NODES[@]} --node_rank=$i "
      "--nproc_per_node=4 --master_addr=${NODES[0]} train.py &\n";
  for (const std::string nodes : {"NODES=($(scontrol show hostnames))",
                                  "LIST=$(scontrol show hostnames)\nNODES=($LIST)",
                                  "A=($(scontrol show hostnames))\nNODES=(\"${A[@]}\")",
                                  "mapfile -t NODES < <(scontrol show hostnames)",
                                  "readarray -t NODES <<< \"$(scontrol show hostnames)\""})
    for (const std::string turns : {"i in $(seq 0 $((${#NODES[@]} - 1)))",
                                    "((i = 0; i < ${#NODES[@]}; i++))",
                                    "i in \"${!NODES[@]}\"",
                                    "i in ${!NODES[*]}"}) {
      CAPTURE(nodes);
      CAPTURE(turns);
      const Reduced made = of_nodes(nodes + "\nfor " + turns + "; do\n" + start + "done\nwait\n");
      CHECK(made.made.is_lossless());
      CHECK(made.job_has("nodes = 2\n"));
      CHECK(made.job_has("command = [\"torchrun\", \"train.py\"]"));
    }
  // One element, whatever it holds.
  for (const std::string nodes : {"NODES=(\"$(scontrol show hostnames)\")",
                                  "NODES=($SLURM_JOB_NODELIST)",
                                  "NODES=($(echo $SLURM_JOB_NODELIST))",
                                  "NODES=($(scontrol show hostnames))\nNODES[2]=x",
                                  "NODES=($(scontrol show hostnames))\nNODES+=(x)",
                                  "f() { NODES=(x); }\nNODES=($(scontrol show hostnames))\nf"}) {
    CAPTURE(nodes);
    const Reduced made =
        of_nodes(nodes + "\nfor i in \"${!NODES[@]}\"; do\n" + start + "done\nwait\n");
    CHECK_FALSE(made.made.is_lossless());
  }
}

TEST_CASE("the number of nodes in an array is not known once its elements change") {
  const std::string turns =
      "for i in ${!NODES[@]}; do\nsrun -N1 -n1 -w ${NODES[$i]} ./a $i &\ndone\nwait\n";
  const std::string list = "NODES=($(scontrol show hostnames))\n";
  for (const std::string& lines :
       {list + "unset 'NODES[0]'\n",
        list + "unset NODES[0]\n",
        list + "k=1\nunset \"NODES[$k]\"\n",
        list + "pop() { unset 'NODES[0]'; }\npop\n",
        list + "pop() { NODES=(\"${NODES[@]:1}\"); }\npop\n",
        list + "NODES[7]=x\n",
        list + "NODES+=(x)\n",
        std::string("mapfile -t -n 1 NODES < <(scontrol show hostnames)\n"),
        std::string("mapfile -t -O 1 NODES < <(scontrol show hostnames)\n"),
        std::string("NODES=($(scontrol show hostnames | uniq -d))\n")}) {
    CAPTURE(lines);
    CHECK(of_nodes(lines + turns).became("for i") == Became::lost);
  }
  const std::string added =
      "NODES=($(hostname))\nNODES+=($(scontrol show hostnames | tail -n +2))\n";
  const Reduced all = of_nodes(added + turns);
  CHECK(all.made.is_lossless());
  CHECK(all.job_has("command = [\"./a\", \"1\"]"));
  const Reduced names = of_one_node("A=(x y z)\nunset 'A[1]'\nfor a in ${A[@]}; do ./a $a; done\n");
  CHECK_FALSE(names.job_has("\"y\""));
}

TEST_CASE("options of deepspeed become those of torchrun, or are lost") {
  const std::string begin = "deepspeed --hostfile hosts ";
  for (const auto& [options, made] : std::vector<std::pair<std::string, std::string>>{
           {"--num_gpus 2 train.py", R"(["torchrun", "--nproc_per_node", "2", "train.py"])"},
           {"--num_gpus=2 train.py", R"(["torchrun", "--nproc_per_node=2", "train.py"])"},
           {"--num_gpus 4 train.py --num_gpus 3", R"(["torchrun", "train.py", "--num_gpus", "3"])"},
           {"--no_local_rank --bind_cores_to_rank --save_pid --force_multi -H x train.py",
            R"(["torchrun", "train.py"])"},
           {"--module --num_gpus 2 train",
            R"(["torchrun", "--module", "--nproc_per_node", "2", "train"])"},
           {"--no_python --module train", R"(["torchrun", "--no_python", "--module", "train"])"},
           {"--num_gpus=$GPUS train.py", "exec torchrun --nproc_per_node=$GPUS train.py"}}) {
    const std::string text = begin + options + "\n";
    CAPTURE(text);
    const Reduced reduced = of_nodes(text);
    CHECK(reduced.made.is_lossless());
    CHECK(reduced.job_has(made));
  }
  CHECK(of_nodes(begin + "--autotuning run train.py\n").says("deepspeed", "has no such option"));
  CHECK(of_nodes(begin + "-i host1 train.py\n").became("deepspeed") == Became::lost);
  CHECK(of_one_node("deepspeed --num_gpus 2 --autotuning run train.py\n")
            .job_has(R"(["deepspeed", "--num_gpus", "2", "--autotuning", "run", "train.py"])"));
}
