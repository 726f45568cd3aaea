// SPDX-License-Identifier: Apache-2.0
// Job files and the other sources of settings: precedence, the origin of each value, and what is
// refused.
#include "tests/cli/session.hpp"

#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace dts;
using namespace dts::tests;

class Settings : public Session {
 public:
  Settings() {
    environment["DTSUBMIT_SITE_FOLDER"] = file("site");
    environment["HOME"] = file("home");
    environment["SLURM_CONF"] = "/nonexistent/slurm.conf";
    for (const char* folder : {"site", "home/.config/dtsubmit"})
      REQUIRE(make_folders(file(folder)));
  }

  void write(const std::string& name, const std::string& text) const {
    REQUIRE(write_file(file(name), text));
  }

  // The line `partition = "x"  # ORIGIN` of a key.
  [[nodiscard]] std::string line(const std::string& key, const Words& words) const {
    Words all{"config", "--origin"};
    all.insert(all.end(), words.begin(), words.end());
    const Output output = dtsubmit(all);
    CHECK(output.err == "");
    const std::size_t at = ("\n" + output.out).find("\n" + key + " = ");
    if (at == std::string::npos) return "";
    return normal(output.out.substr(at, output.out.find('\n', at) - at));
  }
};

}  // namespace

TEST_CASE("each source overrides the ones before, and is named") {
  Settings session;
  session.write("job.toml", "partition = \"of-job\"\n");
  const auto line = [&](const Words& words) { return session.line("partition", words); };
  CHECK(line({}).empty());
  session.write("site/config.toml", "\npartition = \"of-site\"\naccount = \"a\"\n");
  CHECK(contains(line({}), "partition = \"of-site\"  # "));
  CHECK(contains(line({}), "/site/config.toml:2:13"));
  session.write("home/.config/dtsubmit/config.toml", "partition = \"of-user\"\n");
  CHECK(contains(line({}), "/home/.config/dtsubmit/config.toml:1:13"));
  session.write(".dtsubmit.toml", "partition = \"of-project\"\n");
  CHECK(contains(line({}), "/.dtsubmit.toml:1:13"));
  CHECK(line({"job.toml"}) == "partition = \"of-job\"  # job.toml:1:13");
  session.environment["SBATCH_PARTITION"] = "of-sbatch";
  CHECK(contains(session.dtsubmit({"config", "--origin", "job.toml"}).out,
                 "partition = \"of-sbatch\"  # SBATCH_PARTITION\n"));
  session.environment["DTSUBMIT_PARTITION"] = "of-variable";
  CHECK(line({"job.toml"}) == "partition = \"of-variable\"  # DTSUBMIT_PARTITION");
  CHECK(line({"job.toml", "-p", "typed"}) == "partition = \"typed\"  # --partition");
  CHECK(line({"job.toml", "-p", ""}) == "partition = \"\"  # --partition");
  CHECK(contains(session.line("account", {"job.toml"}), "/site/config.toml:3:11"));
}

TEST_CASE("a job file alone is submitted, and options change it") {
  Settings session;
  session.write("job.toml",
                "nodes = 2\ngpus_per_node = 8\ntime = 90\nmem = \"16G\"\npartition = \"gpu\"\n"
                "command = [\"python3\", \"my train.py\"]\n");
  const Words typed{"--dry-run",
                    "--nodes",
                    "2",
                    "--gpus-per-node",
                    "8",
                    "--time",
                    "90",
                    "--mem",
                    "16G",
                    "--partition",
                    "gpu",
                    "--",
                    "python3",
                    "my train.py"};
  const std::string expected = session.normal(session.dtsubmit(typed).out);
  CHECK(contains(expected, "#SBATCH"));
  CHECK(session.normal(session.dtsubmit({"job.toml", "--dry-run"}).out) == expected);
  CHECK(session.normal(session.dtsubmit({"submit", "job.toml", "--dry-run"}).out) == expected);
  CHECK(session.normal(session.dtsubmit({"--dry-run", "job.toml"}).out) == expected);
  const std::string changed =
      session.dtsubmit({"job.toml", "--dry-run", "-N", "3", "--", "./other", "x"}).out;
  CHECK(contains(changed, "--nodes=\"3\""));
  CHECK(contains(changed, "job-name = other"));
}

TEST_CASE("problems of all sources are told at once, each in its place") {
  Settings session;
  session.write(".dtsubmit.toml", "partition = 7\nnode = 1\n");
  session.write("home/.config/dtsubmit/config.toml", "time = \"soon\"\n");
  session.write("job.json", "{\n  \"nodes\": 0, // none\n  \"time\": \"1:00\"\n}");
  session.environment["DTSUBMIT_GPUS_PER_NODE"] = "many";
  session.environment["DTSUBMIT_REQUEUE"] = "perhaps";
  const Output output = session.dtsubmit({"job.json", "--dry-run", "--mem", "x"});
  CHECK(output.exit_code == 3);
  for (const char* part : {"/config.toml:1:8: time: `soon`",
                           ".dtsubmit.toml:2:1: unknown key `node`",
                           "job.json:2:12: nodes: at least 1, not 0",
                           "    |   \"nodes\": 0, // none",
                           "DTSUBMIT_GPUS_PER_NODE: `many`",
                           "DTSUBMIT_REQUEUE: `perhaps`",
                           "--mem: "})
    CHECK_MESSAGE(contains(output.err, part), output.err);
}

TEST_CASE("files that others could have written are not believed") {
  Settings session;
  session.write(".dtsubmit.toml", "partition = \"x\"\n");
  REQUIRE(::chmod(session.file(".dtsubmit.toml").c_str(), 0666) == 0);
  const Output open = session.dtsubmit({"config"});
  CHECK(open.exit_code == 3);
  CHECK(contains(open.err, "can be written by others"));
  CHECK(contains(open.err, "chmod go-w"));
  if (::geteuid() != 0) {
    MESSAGE("skipped: only root can make a file of another user");
    return;
  }
  REQUIRE(::chmod(session.file(".dtsubmit.toml").c_str(), 0644) == 0);
  REQUIRE(::chown(session.file(".dtsubmit.toml").c_str(), 12345, 12345) == 0);
  const Output foreign = session.dtsubmit({"config"});
  CHECK(foreign.exit_code == 0);
  CHECK(contains(foreign.err, ".dtsubmit.toml is not used: it belongs to user 12345"));
  CHECK(foreign.out.empty());
}

TEST_CASE("the project's file is the nearest, not above the repository or the home") {
  Settings session;
  const auto partition_below = [&](const std::string& folder) {
    const Output output = session.shell("cd " + folder + " && $DTSUBMIT config");
    CHECK(output.err == "");
    return output.out;
  };
  session.write(".dtsubmit.toml", "partition = \"top\"\n");
  REQUIRE(make_folders(session.file("repository/.git")));
  REQUIRE(make_folders(session.file("repository/a/b")));
  REQUIRE(make_folders(session.file("c/d")));
  REQUIRE(make_folders(session.file("home/e")));
  CHECK(partition_below("c/d") == "partition = \"top\"\n");
  CHECK(partition_below("repository/a/b").empty());
  CHECK(partition_below("home/e").empty());
  session.write("repository/.dtsubmit.toml", "partition = \"repository\"\n");
  CHECK(partition_below("repository/a/b") == "partition = \"repository\"\n");
}

TEST_CASE("what is no file of settings is refused, and nothing waits for it") {
  const Settings session;
  const auto error = [&](const Words& words) {
    const Output output = session.dtsubmit(words);
    CHECK(output.exit_code != 0);
    CHECK(output.out.empty());
    return output.err;
  };
  REQUIRE(::mkfifo(session.file("f.toml").c_str(), 0600) == 0);
  REQUIRE(make_folders(session.file("d.json")));
  session.write("big.toml", std::string(10'000'000, '#'));
  session.write("nul.toml", std::string("nodes = 1\n\0", 11));
  CHECK(contains(error({"f.toml"}), "f.toml is not a regular file"));
  CHECK(contains(error({"d.json"}), "d.json is a folder"));
  CHECK(contains(error({"none.toml"}), "none.toml: No such file"));
  CHECK(contains(error({"big.toml"}), "10000000 bytes"));
  CHECK(contains(error({"nul.toml"}), "nul.toml:2:1: a NUL byte"));
  CHECK(contains(error({"submit", "train.py"}), "unexpected argument `train.py`"));
  CHECK(contains(error({"config", "--save", "x.yaml"}), "ends in .toml or .json"));
  session.write("there.toml", "");
  CHECK(contains(error({"config", "--save", "there.toml"}), "exists already"));
}

TEST_CASE("the problems of a file are in the order of its lines") {
  Settings session;
  session.write("bad.toml", "time = \"x\"\nnodes = \"y\"\nzzz = 1\nmem = \"z\"\n");
  const std::string said = session.dtsubmit({"config", "bad.toml"}).err;
  CAPTURE(said);
  std::size_t before = 0;
  for (const char* place : {"bad.toml:1:8", "bad.toml:2:9", "bad.toml:3:1", "bad.toml:4:7"}) {
    const std::size_t at = said.find(place);
    REQUIRE(at != std::string::npos);
    CHECK(at >= before);
    before = at;
  }
}

TEST_CASE("a run without Slurm leaves out what is for Slurm") {
  Settings session;
  session.write("job.toml", "partition = \"gpu\"\ncommand = \"true\"\nruns = \"elsewhere\"\n");
  if (!Session::has_mpirun()) return;
  const Output output = session.dtsubmit({"run", "job.toml"});
  CHECK_MESSAGE(output.exit_code == 0, output.err);
  CHECK(run::list_runs(session.file("elsewhere")).size() == 1);
  CHECK(session.dtsubmit({"status", "last"}).exit_code == 0);
}

TEST_CASE("what is saved asks for the same job") {
  Settings session;
  session.environment["DTSUBMIT_QOS"] = "long";
  const Words job{"--dry-run",
                  "-n",
                  "16",
                  "--gres",
                  "gpu:a100:4,lscratch:1",
                  "--signal",
                  "B:USR1@90",
                  "--module",
                  "gcc/12",
                  "--module",
                  "cuda",
                  "--exclusive",
                  "--mem",
                  "0",
                  "--nice",
                  "--no-requeue",
                  "--slurm",
                  "power-x=level",
                  "--slurm",
                  "flag-y",
                  "--hang-timeout",
                  "20",
                  "--comment",
                  "a 'b' \"c\" # \\ é",
                  "--container",
                  "/a.sif",
                  "--container-env",
                  "A=b=c"};
  const Words program{"--", "python3", "it's", "", "r\xe9", "$HOME", "a\nb"};
  Words plain = job;
  plain.insert(plain.end(), program.begin(), program.end());
  const Output expected = session.dtsubmit(plain);
  REQUIRE_MESSAGE(expected.exit_code == 0, expected.err);
  for (const std::string name : {"saved.toml", "saved.json"}) {
    Words saving = job;
    saving.insert(saving.end(), {"--save", name});
    saving.insert(saving.end(), program.begin(), program.end());
    CHECK(session.dtsubmit(saving).exit_code == 0);
    const Output again = session.dtsubmit({name, "--dry-run"});
    CHECK(again.err == expected.err);
    CHECK(session.normal(again.out) == session.normal(expected.out));
  }
}

TEST_CASE("config is one JSON document, and what it prints can be read back") {
  Settings session;
  session.write("job.toml",
                "nodes = 2\nmem = \"4G\"\nslurm = {power-x = \"level\"}\ncommand = \"a 'b c'\"\n");
  const auto document =
      nlohmann::json::parse(session.dtsubmit({"config", "--json", "job.toml"}).out, nullptr, false);
  REQUIRE(document.is_object());
  CHECK(document["schema"] == "dtsubmit/config/1");
  CHECK(document["values"]["mem"]["value"] == "4G");
  CHECK(document["values"]["mem"]["origin"] == "job.toml:2:7");
  CHECK(document["values"]["requeue"]["origin"] == "built-in");
  const std::string shown = session.dtsubmit({"config", "--origin", "job.toml"}).out;
  session.write("again.toml", shown);
  CHECK(session.dtsubmit({"config", "again.toml"}).out ==
        session.dtsubmit({"config", "job.toml"}).out);
}
