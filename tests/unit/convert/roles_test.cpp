// SPDX-License-Identifier: Apache-2.0
// Programs that a script starts side by side on nodes of their own, as roles.
#include "core/convert/convert.hpp"
#include "core/convert/known/node_values.hpp"
#include "core/shell/parse.hpp"

#include <doctest/doctest.h>

using namespace dts;
using namespace dts::convert;

namespace {

Conversion job_with(const std::string& body) {
  return convert_script("#!/bin/bash\n" + body, {"job.sh", {}, {}});
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string k_ray_begin =
    "#SBATCH --nodes=4 --ntasks-per-node=1\n"
    "nodes=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\")\n"
    "nodes_array=($nodes)\n"
    "head_node=${nodes_array[0]}\n"
    "head_node_ip=$(srun --nodes=1 --ntasks=1 -w \"$head_node\" hostname --ip-address)\n"
    "ip_head=$head_node_ip:6379\n"
    "export ip_head\n"
    "srun --nodes=1 --ntasks=1 -w \"$head_node\" ray start --head --block &\n"
    "sleep 10\n";

const std::string k_workers =
    "for ((i = 1; i <= SLURM_JOB_NUM_NODES - 1; i++)); do\n"
    "  node_i=${nodes_array[$i]}\n"
    "  srun --nodes=1 --ntasks=1 -w \"$node_i\" ray start --address \"$ip_head\" --block &\n"
    "  sleep 5\n"
    "done\n";

// The nodes that the word in quotes names behind `body`, of a job of four.
std::optional<NodeRange> nodes_behind(const std::string& body, const std::string& word) {
  const std::string text = body + "echo " + word + "\n";
  const shell::Script script = shell::parse(text);
  const lint::Job job{};
  const Resolver resolver(job, {});
  Known known(script, resolver, {}, false);
  NodeValues values(4, known);
  for (std::size_t i = 0; i + 1 < script.statements.size(); ++i) {
    known.follow(script.statements[i]);
    values.follow(script.statements[i]);
  }
  return values.nodes_of(script.statements.back().pipelines[0].commands[0].words[1]);
}

}  // namespace

TEST_CASE("a Ray cluster and its driver are two roles") {
  const Conversion made = job_with(k_ray_begin + k_workers + "python train.py --n $SLURM_NNODES\n");
  CHECK(made.is_lossless());
  const std::string& job = made.job_file;
  CHECK(holds(job, "name = \"head\""));
  CHECK(holds(job, "name = \"workers\"\nnodes = \"3\"\nper_node = true"));
  // In the batch script's order on its own node, with the whole job's size.
  CHECK(holds(job,
              "ray start --head --block &\nsleep 10\nsleep 5\nsleep 5\nsleep 5\npython "
              "train.py --n 4"));
  // The others begin as late as the first of them.
  CHECK(holds(job, "sleep 10\nexec ray start --address"));
  CHECK(holds(job, "until = \"others end\""));
  // What programs may read of the head's address is the role's.
  CHECK(holds(job, "head_node_ip=$DTSUBMIT_ROLE_HEAD_ADDR"));
  CHECK(holds(job, "export ip_head"));
  CHECK_FALSE(holds(job, "scontrol show hostnames"));
}

TEST_CASE("a loop over nodes by their names") {
  const Conversion made =
      job_with(k_ray_begin +
               "for node in \"${nodes_array[@]:1}\"; do\n"
               "  srun -N1 -n1 -w $node ray start --address $ip_head --block &\n"
               "done\npython train.py\n");
  CHECK(made.is_lossless());
  CHECK(holds(made.job_file, "nodes = \"3\"\nper_node = true"));
}

TEST_CASE("turns that differ are roles of their own") {
  const Conversion made = job_with(k_ray_begin +
                                   "for ((i = 1; i < 4; i++)); do\n"
                                   "  srun -N1 -n1 -w \"${nodes_array[$i]}\" prog --index $i &\n"
                                   "done\npython train.py\n");
  CHECK(made.is_lossless());
  for (const char* part : {"exec prog --index 1", "exec prog --index 3", "workers-3"})
    CHECK(holds(made.job_file, part));
}

TEST_CASE("lines behind the last program in the background are the batch script's own program") {
  const Conversion made = job_with(k_ray_begin + "srun -N1 -n1 -w \"${nodes_array[1]}\" serve &\n" +
                                   "until curl -s http://$head_node_ip:8000; do sleep 1; done\n");
  CHECK(made.is_lossless());
  CHECK(holds(made.job_file, "ray start --head --block &\nsleep 10\nuntil curl"));
  CHECK_FALSE(holds(made.job_file, "teardown"));
}

TEST_CASE("whom the script waits for") {
  const std::string begin =
      "#SBATCH -N 3 --ntasks-per-node=2\n"
      "N=($(scontrol show hostnames $SLURM_JOB_NODELIST))\n"
      "srun -N1 -n1 -w ${N[2]} serve &\nSERVER=$!\n"
      "srun -N2 -n4 -w \"$(IFS=,; echo \"${N[*]:0:2}\")\" train &\nTRAIN=$!\n";
  const auto untils = [&](const std::string& end) {
    const Conversion made = job_with(begin + end);
    REQUIRE(made.is_lossless());
    const std::size_t serve = made.job_file.find("\"serve\"");
    const std::size_t train = made.job_file.find("\"train\"");
    const std::size_t until = made.job_file.find("until");
    if (until == std::string::npos) return 0;
    return (serve < until) == (train < until) ? 1 : 2;
  };
  CHECK(untils("wait\n") == 0);
  CHECK(untils("wait $TRAIN\nkill $SERVER\n") == 1);
  // Nobody waits: Slurm would end the job at once.
  CHECK_FALSE(job_with(begin).is_lossless());
}

TEST_CASE("programs that share some nodes are no roles") {
  CHECK_FALSE(job_with(k_ray_begin + "srun train\n").is_lossless());
  // Each with GPUs of its own on the same node.
  CHECK_FALSE(job_with("#SBATCH -N 1 --gpus-per-node=2\nsrun -n1 --gpus=1 a &\n"
                       "srun -n1 --gpus=1 b &\nwait\n")
                  .is_lossless());
  // The list of all nodes is known to no role.
  CHECK_FALSE(job_with(k_ray_begin + k_workers + "python train.py --hosts \"${nodes_array[@]}\"\n")
                  .is_lossless());
}

TEST_CASE("programs on one node are one program") {
  const Conversion made = job_with("python a.py &\npython b.py &\nwait\n");
  CHECK(made.is_lossless());
  CHECK(holds(made.job_file, "python a.py &\npython b.py &\nwait"));
}

TEST_CASE("which nodes variables name") {
  const std::string all = "A=($(scontrol show hostnames))\n";
  CHECK(nodes_behind(all, "${A[0]}") == NodeRange{0, 1});
  CHECK(nodes_behind(all, "\"${A[-1]}\"") == NodeRange{3, 4});
  CHECK(nodes_behind(all, "${A[@]:1:2}") == NodeRange{1, 3});
  CHECK(nodes_behind(all + "K=$((3 - 1))\n", "${A[@]:$K}") == NodeRange{2, 4});
  CHECK(nodes_behind(all, "$A") == NodeRange{0, 1});
  CHECK(nodes_behind("mapfile -t A < <(scontrol show hostnames $SLURM_NODELIST)\n", "${A[3]}") ==
        NodeRange{3, 4});
  CHECK(nodes_behind("", "$(scontrol show hostnames | head -n 1)") == NodeRange{0, 1});
  CHECK(nodes_behind("", "$(scontrol show hostnames | tail -n +2)") == NodeRange{1, 4});
  CHECK(nodes_behind("", "$(hostname -s)") == NodeRange{0, 1});
  CHECK(nodes_behind(all, "$(srun -N1 -w ${A[1]} hostname -i | awk '{print $1}')") ==
        NodeRange{1, 2});
  CHECK_FALSE(nodes_behind(all, "${A[4]}"));
  CHECK_FALSE(nodes_behind(all, "${A[$X]}"));
  CHECK_FALSE(nodes_behind(all + "A=(a b)\n", "${A[0]}"));
  CHECK_FALSE(nodes_behind("", "$(scontrol show hostnames | shuf -n 1)"));
  // Another name of the same node.
  CHECK(nodes_behind(all + "H=${A[0]}\nif [[ $H == *\" \"* ]]; then H=x; fi\n", "$H") ==
        NodeRange{0, 1});
}

TEST_CASE("what the first node runs alone, the other nodes and roles wait for") {
  const std::string clones =
      "if on_first_node; then\ngit clone a || true\nfirst_node_did 1 || true\n";
  const Conversion nodes = job_with("#SBATCH -N 2\nexport A=1\ngit clone a\ncd a\nsrun ./b\n");
  CHECK(holds(nodes.job_file, clones + "else\nawait_first_node 1 || true\nfi\ncd a\n"));
  CHECK(holds(nodes.job_file, "\"$DTSUBMIT_RUN_DIR/attempt-$DTSUBMIT_ATTEMPT/first-node-$1\""));
  const Conversion roles = job_with(
      "#SBATCH -N 2 --ntasks-per-node=1\nexport A=1\ngit clone a\n"
      "nodes=($(scontrol show hostnames))\n"
      "srun -N1 -n1 -w ${nodes[0]} ./serve $A &\ncp c d\n"
      "srun -N1 -n1 -w ${nodes[1]} ./use $A\n");
  const std::size_t second = roles.job_file.rfind("[[roles]]");
  const std::string serve = roles.job_file.substr(0, second);
  const std::string use = roles.job_file.substr(second);
  CHECK(holds(serve, clones));
  CHECK(holds(serve, "$DTSUBMIT_JOB_DIR/first-node-"));
  CHECK_FALSE(holds(use, "git clone"));
  CHECK(holds(use, "\nawait_first_node 1 || true\n"));
  CHECK_FALSE(holds(use, "cp c d"));
  // Nobody waits for a tear-down.
  CHECK_FALSE(holds(job_with("#SBATCH -N 2\nsrun ./b\ncp -r out /archive\n").job_file, "await"));
}

TEST_CASE("a container that srun keeps by its name has the image that made it") {
  const Conversion made = job_with(
      "#SBATCH -N 2\nN=train_$SLURM_JOB_ID\n"
      "srun --ntasks=2 --container-image=/img.sqsh --container-name=$N true\n"
      "srun --ntasks=2 --container-name=$N ./run.sh\n");
  CHECK(made.is_lossless());
  CHECK(holds(made.job_file, "/img.sqsh"));
  CHECK_FALSE(job_with("srun --container-name=left ./run.sh\n").is_lossless());
}

TEST_CASE("an option of a plug-in that sbatch has as well is one of the job") {
  const Conversion made = job_with("#SBATCH -N 2\nsrun -n 4 --uenv=torch:v1 --view=default ./a\n");
  CHECK(made.is_lossless());
  CHECK(holds(made.job_file, R"(slurm = ["uenv=torch:v1", "view=default"])"));
  const std::string first = "#SBATCH --uenv=torch:v1\nsrun --uenv=torch:v1 ./a\n";
  CHECK(job_with(first).is_lossless());
  CHECK(holds(job_with(first).job_file, R"(slurm = ["uenv=torch:v1"])"));
  CHECK(job_with(first + "srun --uenv=torch:v1 ./b\n").is_lossless());
  CHECK_FALSE(job_with(first + "srun --uenv=other:v1 ./b\n").is_lossless());
}

TEST_CASE("an environment definition file is lost: only srun reads it") {
  CHECK_FALSE(job_with("srun --environment=/e.toml ./a\n").is_lossless());
  CHECK_FALSE(job_with("#SBATCH --environment=/e.toml\nsrun ./a\n").is_lossless());
}

TEST_CASE("roles on counted and listed nodes, at the address of an array's element") {
  const std::string begin = "NODES=($(scontrol show hostnames))\nREST=(\"${NODES[@]:1}\")\n";
  const std::string head = "srun -N1 -n1 -w ${NODES[0]} ./serve --all ${#NODES[@]} &\nsleep 5\n";
  for (const std::string place : {"-w $(IFS=,; echo \"${REST[*]}\") -N ${#REST[@]} -n ${#REST[@]}",
                                  "-w ${NODES[1]},${NODES[2]} -N 2 -n 2",
                                  "-w \"${NODES[1]},${NODES[2]}\" -N $((${#NODES[@]} - 1)) -n 2"}) {
    CAPTURE(place);
    const Reduced made("#!/bin/bash\n#SBATCH -N 3 --ntasks-per-node=1\n" + begin + head + "srun " +
                       place + " ./ask \"${NODES[0]}:80\" --of ${#REST[@]}\n");
    CHECK(made.made.is_lossless());
    CHECK(made.job_has("./serve --all 3"));
    CHECK(made.job_has("exec ./ask \"$DTSUBMIT_ROLE_SERVE_ADDR\":80 --of 2"));
    CHECK(made.job_has("nodes = \"2\""));
  }
  const Reduced gap("#!/bin/bash\n#SBATCH -N 3 --ntasks-per-node=1\n" + begin + head +
                    "srun -w ${NODES[0]},${NODES[2]} -N2 -n2 ./ask\n");
  CHECK_FALSE(gap.made.is_lossless());
}
