// SPDX-License-Identifier: Apache-2.0
// What a request becomes, and what is refused with which words.
#include "core/plan/json.hpp"
#include "core/plan/plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace dts::plan {
namespace {

using std::chrono::seconds;

// Two nodes of 8 GPUs and one of 4 in `low` (the default); `cpu` has two nodes without.
ClusterView cluster() {
  ClusterView view;
  view.nodes = {{"n0", 32, 8, 64000},
                {"n1", 32, 8, 64000},
                {"g2", 16, 4, 32000},
                {"c0", 64, 0, 64000},
                {"c1", 48, 0, 64000}};
  view.partitions = {{"low", true, {"n0", "n1", "g2"}, seconds(3600)},
                     {"cpu", false, {"c0", "c1"}, seconds::max()}};
  return view;
}

spec::JobSpec request(unsigned nodes, std::optional<unsigned> gpus = std::nullopt) {
  spec::JobSpec spec;
  spec.job_name = "train";
  spec.nodes = nodes;
  spec.gpus_per_node = gpus;
  spec.command = {"python3", "train.py"};
  return spec;
}

Plan planned(const spec::JobSpec& spec, const ClusterView& view = {}) {
  const auto plan = make_plan(spec, view, "/usr/bin/dttrain");
  if (!plan) FAIL(to_error(plan.error()).message);
  return *plan;
}

Diagnostics refused(const spec::JobSpec& spec, const ClusterView& view = {}) {
  const auto plan = make_plan(spec, view, "/usr/bin/dttrain");
  REQUIRE_FALSE(plan);
  return plan.error();
}

std::string why(const Plan& plan, const std::string& what) {
  for (const Reason& reason : plan.reasons)
    if (reason.what.rfind(what, 0) == 0) return reason.why;
  return "(no reason)";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

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
  spec.bind = "map:0-3;4-7";
  spec.smt = 1;
  spec.cores_per_rank = 4;
  CHECK(planned(spec).frameworks == std::vector<std::string>{"torch"});
  CHECK(planned(spec).bind_threads == "gnu");
  CHECK(contains(why(planned(spec), "framework = torch"), "as asked"));
  CHECK(contains(why(planned(spec), "bind-threads = gnu"), "as asked"));
  spec.frameworks.clear();
  CHECK(contains(why(planned(spec), "framework = none"), "as asked"));
  const auto back = plan_from_json(to_json(planned(spec)));
  REQUIRE(back);
  CHECK(back->frameworks.empty());
  CHECK(back->bind_threads == "gnu");
  CHECK(back->bind == "map:0-3;4-7");
  CHECK(back->smt == 1);
  CHECK(back->cores_per_rank == 4);
  spec.bind = "near";
  CHECK(refused(spec)[0].where == "--bind");
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
  CHECK(why(plan, "cpus-per-task = 4") == "32 CPUs a node / 8 ranks");
  CHECK(plan.command == std::vector<std::string>{"python3", "train.py"});
}

TEST_CASE("without GPUs, --cpus-per-task divides a known node, else there is one rank") {
  spec::JobSpec spec = request(2);
  CHECK(planned(spec, cluster()).ntasks_per_node == 1);
  spec.partition = "cpu";
  spec.cpus_per_task = 10;
  CHECK(planned(spec, cluster()).ntasks_per_node == 4);  // c1 has 48
  CHECK(planned(spec).ntasks_per_node == 1);
}

TEST_CASE("nothing known of the cluster: the request stands as it is") {
  const Plan plan = planned(request(1000, 64));
  CHECK(plan.world_size == 64000);
  CHECK(plan.cpus_per_task == 1);
}

TEST_CASE("a job without a name gets the program's") {
  spec::JobSpec spec = request(1);
  spec.job_name.clear();
  CHECK(planned(spec).job_name == "train");
  spec.command = {"/opt/my tools/fit.sh", "-x"};
  CHECK(planned(spec).job_name == "fit");
  spec.command = {"torchrun", "--nnodes=2", "/home/u/big model.py"};
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

TEST_CASE("each refusal names the option, the numbers and what exists") {
  struct Row {
    const char* option;
    const char* message;
    const char* hint;
    void (*change)(spec::JobSpec&);
  };

  const Row table[] = {
      {"--nodes", "at least 1, not 0", "", [](auto& s) { s.nodes = 0; }},
      {"--nodes",
       "4 nodes asked, but there are 3 in partition low",
       "ask for 3 or fewer",
       [](auto& s) { s.nodes = 4; }},
      {"--partition",
       "no partition `lwo`",
       "did you mean `low`? there are: low, cpu",
       [](auto& s) { s.partition = "lwo"; }},
      {"--partition",
       "no partition `xyzzy`",
       "there are: low, cpu",
       [](auto& s) { s.partition = "xyzzy"; }},
      {"--gpus-per-node",
       "9 GPUs a node asked, but the most in partition low is 8",
       "nodes n[0-1] have 8",
       [](auto& s) { s.gpus_per_node = 9; }},
      {"--gpus-per-node",
       "only 2 nodes in partition low have 8 GPUs, 3 asked",
       "n[0-1]",
       [](auto& s) {
         s.gpus_per_node = 8;
         s.nodes = 3;
       }},
      {"--gpus-per-node",
       "2 GPUs a node asked, but the most in partition cpu is 0",
       "nodes c[0-1] have 0",
       [](auto& s) {
         s.gpus_per_node = 2;
         s.partition = "cpu";
       }},
      {"--ntasks-per-node",
       "9 ranks a node for 8 GPUs: 1 would have none",
       "--ntasks-per-node 8",
       [](auto& s) {
         s.gpus_per_node = 8;
         s.ntasks_per_node = 9;
       }},
      {"--ntasks-per-node",
       "33 CPUs a node asked, but the most in partition low is 32",
       "nodes n[0-1] have 32",
       [](auto& s) { s.ntasks_per_node = 33; }},
      {"--cpus-per-task",
       "40 CPUs a node asked, but the most in partition low is 32",
       "n[0-1]",
       [](auto& s) {
         s.gpus_per_node = 8;
         s.cpus_per_task = 5;
       }},
      {"--cpus-per-task", "at least 1, not 0", "", [](auto& s) { s.cpus_per_task = 0; }},
      {"--mem",
       "65000 MiB of memory a node asked, but the most in partition low is 64000",
       "n[0-1]",
       [](auto& s) { s.memory_mib = 65000; }},
      {"--time",
       "01:00:01 is over partition low's limit of 01:00:00",
       "",
       [](auto& s) { s.time = seconds(3601); }},
      {"--job-name",
       "must start with a letter",
       "folder",
       [](auto& s) { s.job_name = "../../esc"; }},
      {"--job-name", "must start with a letter", "folder", [](auto& s) { s.job_name = "a b"; }},
      {"--signal-margin",
       "600 s + 60 s",
       "use at most 539",
       [](auto& s) {
         s.time = seconds(600);
         s.signal_margin = seconds(600);
       }},
      {"--stop-signal", "must be TERM, USR1 or USR2", "", [](auto& s) { s.stop_signal = 9; }},
      {"--qos", "no printable UTF-8", "", [](auto& s) { s.qos = "a\nb"; }},
      {"command",
       "argument 1 is not UTF-8",
       "",
       [](auto& s) {
         s.command = {"a", "\xff"};
       }},
      {"command", "the program's name is empty", "--", [](auto& s) { s.command = {""}; }},
  };
  for (const Row& row : table) {
    spec::JobSpec spec = request(2);
    row.change(spec);
    const Diagnostics problems = refused(spec, cluster());
    CAPTURE(to_error(problems).message);
    CAPTURE(std::string(row.message));
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].where == row.option);
    CHECK(contains(problems[0].message, row.message));
    CHECK(contains(problems[0].hint, row.hint));
  }
}

TEST_CASE("all problems of a request come at once") {
  spec::JobSpec spec = request(0, 4);
  spec.job_name = "-x";
  spec.ntasks_per_node = 5;
  CHECK(refused(spec).size() == 3);
}

TEST_CASE("a cluster without a default partition wants to be told one") {
  ClusterView view = cluster();
  view.partitions[0].is_default = false;
  CHECK(refused(request(1), view)[0].message == "none given, and the cluster has no default");
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

TEST_CASE("counts that multiply past any machine are refused, not wrapped around") {
  spec::JobSpec spec = request(65535);
  spec.ntasks_per_node = 65535;
  CHECK(contains(refused(spec)[0].message, "4294836225 ranks in all"));
  spec.ntasks_per_node = 4294967295U;
  CHECK_FALSE(refused(spec).empty());
}

TEST_CASE("--hosts names the nodes, and how many ranks each has") {
  struct Case {
    const char* hosts;
    std::optional<unsigned> tasks;
    std::vector<unsigned> ranks;
  };

  for (const Case& c : {Case{"n[1-2]", std::nullopt, {1, 1}},
                        {"n[1-2]:4", std::nullopt, {4, 4}},
                        {"n1,n2:4", std::nullopt, {1, 4}},
                        {"n1,n2:4", 2, {2, 4}},
                        {"n1:1,n2", 3, {1, 3}}}) {
    CAPTURE(c.hosts);
    spec::JobSpec spec = request(1);
    spec.hosts = c.hosts;
    spec.ntasks_per_node = c.tasks;
    const Plan plan = planned(spec);
    unsigned sum = 0, most = 0;
    REQUIRE(plan.hosts.size() == c.ranks.size());
    for (std::size_t i = 0; i < c.ranks.size(); ++i) {
      CHECK(plan.hosts[i].slots == c.ranks[i]);
      sum += c.ranks[i];
      most = std::max(most, c.ranks[i]);
    }
    CHECK(plan.nodes == 2);
    CHECK(plan.world_size == sum);
    CHECK(plan.ntasks_per_node >= most);
    CHECK(plan.launcher == "ssh");
    CHECK(contains(why(plan, "launcher"), "--hosts"));
    CHECK(plan.ssh == std::vector<std::string>{"ssh"});
    const auto back = plan_from_json(to_json(plan));
    REQUIRE(back);
    CHECK(to_json(*back) == to_json(plan));
    CHECK(back->hosts.back().host == "n2");
  }
}

TEST_CASE("the words that reach a host are split at blanks") {
  spec::JobSpec spec = request(1);
  spec.hosts = "n1";
  spec.ssh_command = " ssh  -F file -p 2222 ";
  CHECK(planned(spec).ssh == std::vector<std::string>{"ssh", "-F", "file", "-p", "2222"});
}

TEST_CASE("what --hosts cannot go with is refused") {
  struct Case {
    const char* hosts;
    const char* launcher;
    unsigned nodes;
    const char* option;
    const char* words;
  };

  for (const Case& c : {Case{"n1,,n2", "auto", 1, "--hosts", "column 4"},
                        {"n1,n2,n1:2", "auto", 1, "--hosts", "n1 is named twice"},
                        {"n1,n2", "auto", 3, "--nodes", "3, but --hosts names 2"},
                        {"n1,n2", "mpirun", 1, "--launcher", "environment"},
                        {"n1,n2", "srun", 1, "--launcher", "Slurm job"},
                        {"", "ssh", 2, "--launcher", "outside of the job"},
                        {"", "rsh", 2, "--launcher", "auto, mpirun, srun or ssh"}}) {
    CAPTURE(c.hosts);
    CAPTURE(c.launcher);
    spec::JobSpec spec = request(c.nodes);
    spec.hosts = c.hosts;
    spec.launcher = c.launcher;
    const Diagnostics problems = refused(spec);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].where == c.option);
    CHECK(contains(problems[0].message, c.words));
  }
  spec::JobSpec trainer = request(1);
  trainer.hosts = "n1,n2";
  trainer.command.clear();
  CHECK(contains(refused(trainer).front().message, "MPI"));
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

TEST_CASE("what is avoided is excluded, as long as the job can run without it") {
  const struct {
    const char* what;
    unsigned nodes, spares;
    const char* exclude;               // asked
    std::vector<const char*> avoided;  // those that have been longest first
    std::vector<std::string> down;
    std::vector<std::string> excluded;
    const char* kept;
  } table[] = {
      {"nothing", 1, 0, "", {}, {}, {}, ""},
      {"asked", 1, 0, "n[0-1]", {}, {}, {"n0", "n1"}, ""},
      {"one", 2, 0, "", {"n1"}, {}, {"n1"}, ""},
      {"with a spare", 2, 1, "", {"n1"}, {}, {}, "n1"},
      {"both ways", 1, 0, "n0", {"n1"}, {}, {"n0", "n1"}, ""},
      {"asked already", 1, 0, "n1", {"n1"}, {}, {"n1"}, ""},
      {"the newest first", 2, 0, "", {"n0", "n1"}, {}, {"n1"}, "n0"},
      {"all", 1, 0, "", {"n0", "n1", "g2"}, {}, {"g2", "n1"}, "n0"},
      {"of another partition", 1, 0, "", {"c0"}, {}, {}, ""},
      {"where others are down", 2, 0, "", {"n1"}, {"g2"}, {}, "n1"},
      {"a node that is down costs nothing", 2, 0, "", {"n1"}, {"n1"}, {"n1"}, ""},
  };

  for (const auto& row : table) {
    CAPTURE(row.what);
    ClusterView view = cluster();
    for (const char* name : row.avoided) view.avoided.push_back({name, "in quarantine"});
    for (ClusterView::Node& node : view.nodes)
      node.up = std::find(row.down.begin(), row.down.end(), node.name) == row.down.end();
    spec::JobSpec spec = request(row.nodes);
    spec.spares = row.spares;
    spec.exclude = row.exclude;
    const Plan plan = planned(spec, view);
    CHECK(plan.exclude == row.excluded);
    CHECK(plan.spares == row.spares);
    CHECK(plan.world_size == row.nodes);
    const std::string kept = why(plan, std::string("kept = ") + row.kept);
    CHECK(contains(kept, "the job needs every node") == (row.kept[0] != '\0'));
    const auto back = plan_from_json(to_json(plan));
    REQUIRE(back);
    CHECK(back->exclude == plan.exclude);
    CHECK(back->spares == plan.spares);
  }
}

TEST_CASE("spares and what is excluded count where nodes are too few") {
  spec::JobSpec spec = request(3);
  spec.spares = 1;
  CHECK(contains(refused(spec, cluster())[0].message, "4 nodes asked, but there are 3"));
  spec = request(3);
  spec.exclude = "n1";
  const Diagnostics problems = refused(spec, cluster());
  CHECK(contains(problems[0].message, "there are 2 in partition low without n1"));
  spec = request(2, 8);
  spec.spares = 1;
  CHECK(contains(refused(spec, cluster())[0].message, "only 2 nodes"));
}

}  // namespace dts::plan
