// SPDX-License-Identifier: Apache-2.0
// What a request becomes.
#include "core/plan/layout/json.hpp"
#include "core/plan/program/job_name.hpp"
#include "core/plan/program/own_runtimes.hpp"
#include "core/plan/program/script_file.hpp"
#include "tests/unit/plan/requests.hpp"

namespace dts::plan {

TEST_CASE("torchrun is one task on each node that starts the node's processes itself") {
  struct Case {
    std::vector<std::string> command;
    std::optional<unsigned> gpus;
    unsigned tasks, workers;
  };

  for (const Case& c : {Case{{"torchrun", "train.py"}, 8, 1, 8},
                        {{"/opt/bin/torchrun", "--nproc-per-node", "4", "train.py"}, 8, 1, 4},
                        {{"torchrun", "--nproc_per_node=3", "train.py"}, std::nullopt, 1, 3},
                        {{"torchrun", "--nproc-per-node=auto", "train.py"}, 2, 1, 2},
                        {{"torchrun", "train.py"}, std::nullopt, 1, 1},
                        {{"python3", "-m", "torch.distributed.run", "train.py"}, 8, 1, 8},
                        {{"python3", "train.py", "torchrun"}, 8, 8, 0},
                        {{"python3", "-m", "trainer"}, 8, 8, 0}}) {
    CAPTURE(c.command.front());
    spec::JobSpec spec = request(2, c.gpus);
    spec.command = c.command;
    const Plan plan = planned(spec);
    CHECK(plan.ntasks_per_node == c.tasks);
    CHECK(plan.workers_per_task == c.workers);
    CHECK(plan.world_size == 2 * c.tasks);
  }
}

TEST_CASE("frameworks and threads are taken over, with a reason where they were asked for") {
  spec::JobSpec spec = request(1);
  CHECK(planned(spec).frameworks == spec::all_frameworks());
  CHECK(why(planned(spec), "framework") == "(no reason)");
  CHECK(why(planned(spec), "bind-threads") == "(no reason)");
  spec.frameworks = {"torch"};
  spec.bind_threads = "gnu";
  spec.bind = *spec::parse_bind("map:0-3;4-7");
  spec.smt = 1;
  spec.cores_per_rank = 4;
  CHECK(planned(spec).frameworks == std::vector<std::string>{"torch"});
  CHECK(planned(spec).bind_threads == "gnu");
  CHECK(contains(why(planned(spec), "framework = torch"), "as requested"));
  CHECK(contains(why(planned(spec), "bind-threads = gnu"), "as requested"));
  spec.bind_threads = "auto";
  CHECK(contains(why(planned(spec), "bind-threads = auto"), "but the main one"));
  spec.bind_threads = "gnu";
  spec.frameworks.clear();
  CHECK(contains(why(planned(spec), "framework = none"), "as requested"));
  const auto back = plan_from_json(to_json(planned(spec)));
  REQUIRE(back);
  CHECK(back->frameworks.empty());
  CHECK(back->bind_threads == "gnu");
  CHECK(back->bind.text == "map:0-3;4-7");
  CHECK(back->smt == 1);
  CHECK(back->cores_per_rank == 4);
}

TEST_CASE("torchrun's processes need torch's variables, and cannot be given cores of their own") {
  spec::JobSpec spec = request(2, 8);
  spec.command = {"torchrun", "train.py"};
  spec.frameworks = {"jax"};
  spec.bind_threads = "gnu";
  const Diagnostics problems = refused(spec);
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].where == "--framework");
  CHECK(problems[1].where == "--bind-threads");
  spec.frameworks = {"torch"};
  spec.command = {"torchrun", "--nproc-per-node=1", "train.py"};
  CHECK(planned(spec).bind_threads == "gnu");
}

TEST_CASE("one rank per GPU, and the reasons say so") {
  const Plan plan = planned(request(2, 8), cluster());
  CHECK(plan.ntasks_per_node == 8);
  CHECK(plan.world_size == 16);
  CHECK(plan.cpus_per_task == 4);  // n0 and n1; g2 has too few GPUs to count
  CHECK(why(plan, "ntasks-per-node = 8") == "one rank per GPU");
  CHECK(why(plan, "cpus-per-task = 4") == "32 CPUs per node / 8 ranks");
  CHECK(plan.command == std::vector<std::string>{"python3", "train.py"});
}

TEST_CASE("without GPUs, --cpus-per-task divides a known node, else there is one rank") {
  spec::JobSpec spec = request(2);
  CHECK(planned(spec, cluster()).ntasks_per_node == 1);
  spec.partition = "cpu";
  spec.cpus_per_task = 10;
  CHECK(planned(spec, cluster()).ntasks_per_node == 4);  // c1 has 48
  CHECK(planned(spec).ntasks_per_node == 1);
  CHECK(contains(why(planned(spec), "ntasks-per-node"), "--ntasks-per-node sets the number"));
}

TEST_CASE("nothing known of the cluster: the request stands as it is") {
  const Plan plan = planned(request(1000, 64));
  CHECK(plan.world_size == 64000);
  CHECK(plan.cpus_per_task == 1);
}

TEST_CASE("the program that a launcher, a wrapper or a shell runs in the end names the job") {
  using Row = std::pair<std::vector<std::string>, const char*>;
  for (const auto& row : std::initializer_list<Row>{
           {{"torchrun", "--nproc_per_node", "8", "src/a.py"}, "a"},
           {{"torchrun", "--standalone", "-m", "pkg.train", "--lr", "1"}, "train"},
           {{"python", "-m", "accelerate.commands.launch", "--num_processes", "8", "x.py"}, "x"},
           {{"python3", "-u", "-m", "pkg.fit"}, "fit"},
           {{"python3", "-c", "import a.py"}, "python3"},
           {{"tune", "run", "--nproc_per_node", "8", "full_finetune", "--config", "c"},
            "full_finetune"},
           {{"axolotl", "train", "lora.yml"}, "lora"},
           {{"swift", "sft", "--model", "m"}, "swift"},
           {{"env", "A=1", "prog"}, "prog"},
           {{"A=1", "./prog"}, "prog"},
           {{"uv", "run", "--with", "torch", "train.py"}, "train"},
           {{"uv", "run", "-m", "pkg.fit"}, "fit"},
           {{"singularity", "exec", "--nv", "-B", "/d", "i.sif", "prog", "x.py"}, "prog"},
           {{"nsys", "profile", "-o", "out", "numactl", "-N", "0", "prog"}, "prog"},
           {{"docker", "run", "--gpus", "all", "img", "python", "t.py"}, "t"},
           {{"bash", "-euo", "pipefail", "-c", "cd /w; A=1 torchrun --nnodes 2 t.py | tee log"},
            "t"},
           {{"bash", "-c", "sleep 1; echo x"}, "bash"},
           {{"bash", "train.sh", "-c", "x"}, "train"},
           {{"perl", "-e", "exit"}, "perl"},
           {{"env"}, "env"},
           {{"mpirun", "-n", "8", "./a.out"}, "a"},
       }) {
    CAPTURE(row.first);
    CHECK(default_job_name(row.first) == row.second);
  }
}

TEST_CASE("no job is named bash or interactive by default: Lightning ignores Slurm in these") {
  spec::JobSpec spec = request(1);
  spec.job_name.clear();
  spec.command = {"bash", "-c", "sleep 1; echo x"};
  CHECK(planned(spec).job_name == "bash-job");
  spec.command = {"python3", "interactive.py"};
  CHECK(planned(spec).job_name == "interactive-job");
  spec.job_name = "interactive";
  CHECK(planned(spec).job_name == "interactive");
}

TEST_CASE("the file that the last interpreter of a command reads") {
  using Row = std::pair<std::vector<std::string>, std::string>;
  for (const Row& row : {
           Row{{"python3", "-u", "my train"}, "my train"},
           {{"A=1", "env", "B=2", "nice", "-n", "5", "python", "t.py"}, "t.py"},
           {{"uv", "run", "--with", "torch", "t.py", "x.py"}, "t.py"},
           {{"uv", "run", "torchrun", "--nproc_per_node", "8", "src/t.py"}, "src/t.py"},
           {{"conda", "run", "-n", "e", "python", "-m", "torch.distributed.run", "t.py"}, "t.py"},
           {{"accelerate", "launch", "--config_file", "c.yaml", "t.py"}, "t.py"},
           {{"bash", "-e", "t.sh"}, "t.sh"},
           {{"bash", "-c", "python t.py"}, ""},
           {{"python", "-m", "pkg"}, ""},
           {{"python", "-c", "1"}, ""},
           {{"poetry", "-C", "sub", "run", "python", "t.py"}, ""},
           {{"uv", "run", "--directory=sub", "t.py"}, ""},
           {{"apptainer", "exec", "i.sif", "python", "/in/t.py"}, ""},
           {{"uv", "run"}, ""},
           {{"uv", "run", "https://example.com/t.py"}, ""},
           {{"./a.out", "t.py"}, ""},
           {{"torchrun", "--standalone", "t.py", "--config", "c.py"}, "t.py"},
           {{"torchrun", "--nproc_per_node=8", "-m", "pkg.train", "--config", "c.py"}, ""},
           {{"torchrun", "--nproc_per_node", "8", "--no_python", "./a.out", "c.py"}, ""},
           {{"torchrun", "--nproc_per_node", "8", "./a.out", "--config", "c.py"}, ""},
           {{"accelerate", "launch", "--module", "pkg.train", "c.py"}, ""},
           {{"deepspeed", "--num_gpus", "2", "--module", "pkg", "c.py"}, ""},
           {{"python", "-m", "torch.distributed.run", "-m", "pkg", "c.py"}, ""},
           {{"mpirun", "-n", "2", "python", "-u", "t.py", "c.py"}, "t.py"},
           {{"mpirun", "--oversubscribe", "python3", "t.py"}, "t.py"},
           {{"mpirun", "-n", "2", "--wdir", "sub", "python", "t.py"}, ""},
           {{"srun", "--chdir=sub", "python", "t.py"}, ""},
           {{"srun", "--container-image=i", "python", "t.py"}, ""},
           {{"sudo", "-D", "sub", "python", "t.py"}, ""},
           {{"chroot", "/r", "--", "python", "/in/t.py"}, ""},
           {{"vtune", "-c", "hotspots", "--", "python", "t.py"}, "t.py"},
           {{"bwrap", "--bind", "/a", "/", "--", "python", "t.py"}, ""},
           {{"bash", "-s", "t.sh"}, ""},
           {{}, ""},
       }) {
    CAPTURE(row.first);
    CHECK(script_file(row.first).value_or("") == row.second);
  }
}

TEST_CASE("the container runtimes that a command starts itself") {
  using Names = std::vector<std::string>;
  CHECK(own_runtimes("cd /w&&exec /usr/bin/apptainer exec i.sif ./a; podman run i; podman ps") ==
        Names{"apptainer", "podman"});
  CHECK(own_runtimes("$(ch-run \"$i\" -- x) bwrap").size() == 2);
  CHECK(own_runtimes("python dockerfile.py --image=a/docker.io").empty());
}

TEST_CASE("a job without a name gets the program's") {
  spec::JobSpec spec = request(1);
  spec.job_name.clear();
  CHECK(planned(spec).job_name == "train");
  spec.command = {"/opt/my tools/fit.sh", "-x"};
  CHECK(planned(spec).job_name == "fit");
  spec.command = {"torchrun", "--nnodes=1", "/home/u/big model.py"};
  CHECK(planned(spec).job_name == "bigmodel");
  spec.command = {"\xc3\xa9"};
  CHECK(planned(spec).job_name == "job");
  spec.command.clear();
  CHECK(planned(spec).job_name == "dttrain");
}

TEST_CASE("the bundled trainer gets enough shards for its ranks") {
  spec::JobSpec spec = request(2, 8);
  spec.command.clear();
  CHECK(planned(spec).command == std::vector<std::string>{"/usr/bin/dttrain"});
  spec.nodes = 3;
  CHECK(planned(spec).command == std::vector<std::string>{"/usr/bin/dttrain", "--shards", "32"});
  spec.nodes = 4;
  CHECK(planned(spec).command.back() == "32");
}

TEST_CASE(
    "the default margin is lowered to fit a short limit; sig_time + 60 >= limit never gets "
    "through") {
  struct Row {
    int limit, margin;
  };

  for (const Row row :
       {Row{3600, 120}, Row{181, 120}, Row{180, 90}, Row{120, 30}, Row{90, 0}, Row{60, 0}}) {
    spec::JobSpec spec = request(1);
    spec.time = seconds(row.limit);
    const Plan plan = planned(spec);
    CAPTURE(row.limit);
    CHECK(plan.signal_margin == seconds(row.margin));
    CHECK((row.margin == 0 || row.margin + 60 < row.limit));
    CHECK(contains(why(plan, "signal-margin"),
                   row.margin == 120 ? "stop this long" : "lowered from 120 s"));
  }
  spec::JobSpec spec = request(1);
  spec.time = seconds(200);
  spec.signal_margin = seconds(140);
  CHECK(refused(spec)[0].where == "--signal-margin");
  spec.signal_margin = seconds(139);
  CHECK(planned(spec).signal_margin == seconds(139));
}

TEST_CASE("the default margin is lowered to fit the default limit of the partition, too") {
  ClusterView view;
  view.partitions = {{"long", true, {}, seconds(86400), seconds(3600)},
                     {"short", false, {}, seconds(0), seconds(120)},
                     {"debug", false, {}, seconds(120)}};
  spec::JobSpec spec = request(1);
  CHECK(make_plan(spec, view, "trainer")->signal_margin == seconds(120));
  for (const char* partition : {"short", "long,short", "debug"}) {
    CAPTURE(partition);
    spec.partition = partition;
    const auto plan = make_plan(spec, view, "trainer");
    CHECK(plan->signal_margin == seconds(30));
    CHECK(contains(why(*plan, "signal-margin"), "the limit is 00:02:00, which partition"));
  }
  // Refused only if no other limit is possible: Slurm takes the default of one partition, and a
  // limit on the user's jobs instead of the longest time of a partition.
  spec.signal_margin = seconds(90);
  CHECK(make_plan(spec, view, "trainer")->signal_margin == seconds(90));
  spec.partition = "long,short";
  CHECK(make_plan(spec, view, "trainer")->signal_margin == seconds(90));
  spec.partition = "short";
  CHECK(make_plan(spec, view, "trainer").error()[0].where == "--signal-margin");
  view.partitions[0].default_time = seconds(120);
  spec.partition = "";
  CHECK(!make_plan(spec, view, "trainer"));
  spec.slurm["reservation"] = "r";  // which has a partition of its own
  CHECK(make_plan(spec, view, "trainer")->signal_margin == seconds(90));
}

TEST_CASE("plan.json is read back as it was, and damage is named") {
  const Plan plan = planned(request(2, 8), cluster());
  const std::string text = to_json(plan);
  const auto back = plan_from_json(text);
  REQUIRE(back);
  CHECK(to_json(*back) == text);
  CHECK(back->world_size == 16);
  CHECK(contains(text, R"("schema": "dtsubmit/plan/1")"));
  for (const char* key : {"schema", "nodes", "world_size", "signal_margin", "command", "reasons"}) {
    std::string damaged = text;
    damaged.replace(damaged.find(std::string("\"") + key + "\""), 2, "\"_");
    const auto result = plan_from_json(damaged);
    REQUIRE_FALSE(result);
    CHECK(contains(result.error().message, key));
  }
  CHECK_FALSE(plan_from_json(""));
  CHECK_FALSE(plan_from_json(text.substr(0, text.size() / 2)));
}

}  // namespace dts::plan
