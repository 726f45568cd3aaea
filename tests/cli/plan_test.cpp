// SPDX-License-Identifier: Apache-2.0
// dtsubmit plan without Slurm, and with a scheduler that cannot predict when a job would start.
// With Slurm, see tests/integration/plan.py and plan_cost.py.
#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"
#include "tests/cli/session.hpp"
#include "tests/support/source_dir.hpp"

#include <nlohmann/json.hpp>

using namespace dts;
using namespace dts::tests;

namespace {

const Words k_job{"--nodes", "2", "--gpus-per-node", "8", "--time", "4h", "--mem", "64G"};

// A login node without Slurm.
struct Laptop : Session {
  Laptop() { environment["SLURM_CONF"] = "/nonexistent/slurm.conf"; }

  [[nodiscard]] Output plan(Words words, const Words& more = k_job) const {
    words.insert(words.begin(), "plan");
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "/bin/true"});
    return dtsubmit(words);
  }

  [[nodiscard]] nlohmann::json document(Words words, const Words& more = k_job) const {
    words.emplace_back("--json");
    const Output output = plan(std::move(words), more);
    CAPTURE(output.err);
    REQUIRE(output.exit_code == 0);
    return nlohmann::json::parse(output.out);
  }
};

}  // namespace

TEST_CASE("without a scheduler layout, options and goodput are shown, and why the rest is not") {
  const Laptop laptop;
  const Output output = laptop.plan({"--what-if", "nodes=1,4"});
  CHECK(output.exit_code == 0);
  check_golden("plan.txt", laptop.normal(output.out));
  CHECK_FALSE(exists(laptop.file("runs")));
}

TEST_CASE("--json has the same facts, and null for what is not known") {
  const auto document = Laptop().document({"--what-if", "time=1h,2h"});
  CHECK(document["schema"] == "dtsubmit/forecast/1");
  CHECK(document["scheduler"].is_null());
  CHECK(document["start"]["answer"] == "unknown");
  CHECK(document["size"]["gpus"] == 16);
  CHECK(document["size"]["memory_mib"] == 131'072);
  CHECK(document["cost"].is_null());
  CHECK(document["limit_s"] == 14'400);
  CHECK(document["goodput"]["share"] > 0.9);
  REQUIRE(document["what_if"].size() == 2);
  CHECK(document["what_if"][1]["limit_s"] == 7200);
  CHECK(document["what_if"][1]["option"] == "time");
}

TEST_CASE("a job file and who decided each option") {
  const Laptop laptop;
  REQUIRE(write_file(laptop.file("job.toml"), "nodes = 3\nmem = \"1G\"\n"));
  const auto document = laptop.document({"job.toml"}, {"--account", "proj"});
  const auto who = [&](const char* name) {
    for (const auto& option : document["options"])
      if (option["name"] == name) return option["who"].get<std::string>();
    return std::string();
  };
  CHECK(who("nodes") == "job.toml:1:9");
  CHECK(who("mem") == "job.toml:2:7");
  CHECK(who("account") == "--account");
  CHECK(who("ntasks-per-node") == "no GPUs requested: one rank per node");
}

TEST_CASE("assumptions change the goodput") {
  const Laptop laptop;
  const double usual = laptop.document({})["goodput"]["share"];
  const auto bad = laptop.document({"--assume", "failure-rate=2000,save-time=60s"});
  CHECK(bad["goodput"]["share"] < usual);
  CHECK(bad["goodput"]["save_s"] == 60);
  CHECK(bad["goodput"]["node_failures_in_1000_days"] == 2000);
}

TEST_CASE("all mistakes in plan's own options are reported at once, with the names that exist") {
  const Output output = Laptop().plan({"--what-if",
                                       "noodes=2",
                                       "--what-if",
                                       "nodes",
                                       "--what-if",
                                       "exclusive=1,2",
                                       "--assume",
                                       "luck=1,save-time=soon",
                                       "--svg",
                                       "x.svg"});
  CHECK(output.exit_code == 2);
  for (const char* words : {"`noodes` is not an option of a job with one value",
                            "a similar option exists: nodes",
                            "`nodes` is not OPTION=VALUE,..",
                            "`luck=1` is not NAME=VALUE",
                            "failure-rate",
                            "--save-time",
                            "there is no topology to draw"}) {
    CAPTURE(words);
    CHECK(contains(output.err, words));
  }
}

TEST_CASE("a value of --what-if that is wrong is a row, a job that is wrong an error") {
  const Laptop laptop;
  const auto document = laptop.document({"--what-if", "nodes=0,2"});
  CHECK(contains(document["what_if"][0]["problem"].get<std::string>(), "--nodes"));
  CHECK_FALSE(document["what_if"][1].contains("problem"));
  const Output output = laptop.plan({}, {"--nodes", "0", "--time", "soon"});
  CHECK(output.exit_code == 3);
  CHECK(contains(output.err, "--nodes"));
  CHECK(contains(output.err, "--time"));
}

TEST_CASE("a node's topology gives each rank its cores, GPUs and adapter, and a picture") {
  const Laptop laptop;
  const Output missing = laptop.plan({"--topology", "absent.xml"});
  CHECK(missing.exit_code == 6);
  const Words few{"--nodes", "2", "--ntasks-per-node", "1"};
  const auto document = laptop.document({"--topology", "here", "--svg", "node.svg"}, few);
  REQUIRE(document["nodes"].size() == 1);
  CHECK(document["nodes"][0]["schema"] == "dtsubmit/topo/1");
  CHECK(contains(read_file(laptop.file("node.svg")).value_or(""), "<svg"));
  CHECK(contains(laptop.plan({"--topology", "here"}, few).out, "this machine"));
  const Output many = laptop.plan({"--topology", "here"}, {"--gpus-per-node", "1000"});
  CHECK(many.exit_code == 3);
  CHECK(contains(many.err, "--topology: 1000 GPUs requested"));
}

TEST_CASE("in the picture of a node, ranks have the cores and GPUs that the job requests") {
  const Laptop laptop;
  std::string machine = *read_file(in_source("tests/data/topologies/uneven.xml"));
  const auto name_gpu = [&machine](const std::string& address, const std::string& model) {
    const std::string number = address.substr(5, 2);
    const std::string device = "><object type=\"OSDev\" gp_index=\"9" + number + "\" name=\"cuda" +
                               number + "\" osdev_type=\"5\"><info name=\"GPUModel\" value=\"" +
                               model + "\"/></object></object>";
    machine.replace(machine.find("/>", machine.find("pci_busid=\"" + address)), 2, device);
  };
  name_gpu("0000:01:00.0", "NVIDIA A40");
  name_gpu("0000:02:00.0", "NVIDIA L4");
  REQUIRE(write_file(laptop.file("node.xml"), machine));
  const auto node = [&](const Words& job) {
    return laptop.document({"--topology", "node.xml"}, job)["nodes"][0];
  };

  struct {
    Words job;
    unsigned cores, unused;  // of each rank, of the node's 16
  } const table[] = {
      {{"--gpus-per-node", "4"}, 4, 0},
      // Each core has two threads, and each of these is a CPU.
      {{"--gpus-per-node", "4", "--cpus-per-task", "6"}, 3, 4},
      {{"--gpus-per-node", "4", "--cpus-per-task", "3"}, 2, 8},
      {{"--gpus-per-node", "4", "--cpus-per-task", "3", "--threads-per-core", "2"}, 2, 8},
      {{"--gpus-per-node", "4", "--cpus-per-task", "3", "--hint", "nomultithread"}, 3, 4},
      {{"--gpus-per-node", "4", "--cpus-per-gpu", "2"}, 1, 12},
      {{"--gpus-per-node", "4", "--cpus-per-task", "3", "--exclusive"}, 4, 0},
      {{"--gpus-per-node", "4", "--cpus-per-task", "6", "--cores-per-rank", "2"}, 2, 8},
  };

  for (const auto& row : table) {
    CAPTURE(join(row.job, " "));
    const auto score = node(row.job)["score"];
    CHECK(score["most_cores"] == row.cores);
    CHECK(score["unused_cores"] == row.unused);
  }
  const Output wide = laptop.plan({"--topology", "node.xml"}, {"--cpus-per-task", "33"});
  CHECK(wide.exit_code == 3);
  CHECK(contains(wide.err, "17 requested, 16 cores"));
  CHECK(node({"--gpus-per-node", "l4:1"})["gpus"] == nlohmann::json({1}));
  const Output many = laptop.plan({"--topology", "node.xml"}, {"--gpus-per-node", "l4:5"});
  CHECK(contains(many.err, "--topology: 5 GPUs of type l4 requested, node.xml has 3"));
}

TEST_CASE("each part of a job has a picture of its own") {
  const Laptop laptop;
  REQUIRE(write_file(laptop.file("parts.toml"),
                     "[[roles]]\nname = \"serve\"\nnodes = 1\nntasks_per_node = 1\ngpus_per_node = "
                     "0\ncommand = [\"/bin/true\"]\n"
                     "[[roles]]\nname = \"learn\"\nnodes = 2\nntasks_per_node = 1\ngpus_per_node = "
                     "0\ncommand = [\"/bin/true\"]\n"));
  const Output output = laptop.dtsubmit(
      {"plan", laptop.file("parts.toml"), "--topology", "here", "--svg", "parts.svg"});
  CAPTURE(output.err);
  REQUIRE(output.exit_code == 0);
  const std::string svg = read_file(laptop.file("parts.svg")).value_or("");
  for (const char* part : {"this machine, role `serve`", "this machine, role `learn`"}) {
    CAPTURE(part);
    CHECK(contains(output.out, part));
    CHECK(contains(svg, part));
  }
}

TEST_CASE("another scheduler is spoken of in its own terms, even if it cannot tell") {
  Laptop session;
  session.environment["DTSUBMIT_PLUGIN_PATH"] =
      Session::program().substr(0, Session::program().rfind('/')) + "/../tests/plugins";
  session.environment["DTSUBMIT_SCHEDULER"] = "fakesched";
  session.environment["FAKESCHED_STATE"] = session.file("tickets.json");
  const Words small{
      "--nodes", "2", "--ntasks-per-node", "1", "--cpus-per-task", "2", "--time", "2h"};
  const Output output = session.plan({}, small);
  CHECK(output.exit_code == 0);
  CHECK(contains(output.out, "not known: unknown operation"));
  CHECK(contains(output.out, "4 billing units an hour"));
  CHECK_FALSE(contains(output.out, "lurm"));
  const Output never = session.plan({}, {"--nodes", "9"});
  CHECK(never.exit_code == 1);
  CHECK(contains(never.out, "never, as the request and the site are now"));
}
