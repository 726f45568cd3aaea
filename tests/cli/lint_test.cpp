// SPDX-License-Identifier: Apache-2.0
// dtsubmit lint as users, hooks and code hosts use it.
#include "core/base/files/files.hpp"
#include "tests/cli/session.hpp"

#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

using namespace dts;
using namespace dts::tests;

namespace {

constexpr const char* k_script =
    "#!/bin/bash\n"
    "#SBATCH --job-name=train\n"
    "#SBATCH --nodes=2\n"
    "#SBATCH --ntasks-per-node=1\n"
    "#SBATCH --cpus-per-task=16\n"
    "#SBATCH --gres=gpu:8\n"
    "#SBATCH --time=24:00:00\n"
    "#SBATCH --output=logs/%x-%j.out\n"
    "\n"
    "export MASTER_ADDR=${SLURM_NODELIST:0:9}\n"
    "export MASTER_PORT=29500\n"
    "srun torchrun --nnodes=$SLURM_NNODES --nproc_per_node=8 --node_rank=$SLURM_NODEID train.py "
    "--epochs 90 2>&1 | tee train.log\n"
    "echo done\n";

class LintSession : public Session {
 public:
  LintSession() { REQUIRE(write_file(file("job.sh"), k_script, 0755)); }

  // Runs dtsubmit lint for Slurm 22.05, whatever is installed on this machine.
  [[nodiscard]] Output lint(Words words) const {
    words.insert(words.begin(), {"lint", "--slurm", "22.05"});
    return dtsubmit(words);
  }
};

std::vector<std::string> rules_in(const Output& output) {
  std::vector<std::string> rules;
  const auto document = nlohmann::json::parse(output.out);
  for (const auto& file : document["files"])
    for (const auto& finding : file["findings"]) rules.push_back(finding["rule"]);
  return rules;
}

bool has(const std::vector<std::string>& rules, const char* rule) {
  return std::find(rules.begin(), rules.end(), rule) != rules.end();
}

}  // namespace

TEST_CASE("findings have a place, a caret and what to do, and are an exit code of their own") {
  const LintSession session;
  const Output output = session.lint({"job.sh"});
  CHECK(output.exit_code == 1);
  CHECK(output.err.empty());
  check_golden("lint.txt", output.out);
  CHECK(session.lint({"job.sh"}).out == output.out);
}

TEST_CASE("a script without faults says so") {
  const LintSession session;
  REQUIRE(write_file(session.file("good.sh"), "#!/bin/bash\n#SBATCH --nodes=1\nhostname\n"));
  const Output output = session.lint({"good.sh"});
  CHECK(output.exit_code == 0);
  CHECK(output.out == "nothing found in 1 file, by the rules for Slurm 22.05 (--slurm)\n");
}

TEST_CASE("the release counts: defaults of srun changed") {
  const LintSession session;
  CHECK(has(rules_in(session.lint({"job.sh", "--json"})), "srun-loses-cores"));
  const Output newer = session.dtsubmit({"lint", "--slurm", "24.11.5", "job.sh", "--json"});
  CHECK_FALSE(has(rules_in(newer), "srun-loses-cores"));
  CHECK_FALSE(has(rules_in(newer), "log-folder-missing"));
  CHECK(nlohmann::json::parse(newer.out)["slurm"] == "24.11");
}

TEST_CASE("--json has the places of what was found") {
  const LintSession session;
  const Output output = session.lint({"job.sh", "--json"});
  CHECK(output.exit_code == 1);
  const auto document = nlohmann::json::parse(output.out);
  CHECK(document["schema"] == "dtsubmit/lint/1");
  CHECK(document["slurm"] == "22.05");
  const auto& findings = document["files"][0]["findings"];
  const auto port = std::find_if(findings.begin(), findings.end(), [](const auto& one) {
    return one["rule"] == "fixed-port";
  });
  REQUIRE(port != findings.end());
  CHECK((*port)["severity"] == "warning");
  CHECK((*port)["line"] == 11);
  CHECK((*port)["column"] == 8);
  CHECK((*port)["end_column"] == 25);
  CHECK((*port)["can_fix"] == true);
  CHECK(document["errors"].get<int>() + document["warnings"].get<int>() +
            document["notes"].get<int>() ==
        static_cast<int>(findings.size()));
}

TEST_CASE("--sarif has what the standard requires and code hosts read") {
  const LintSession session;
  const auto document = nlohmann::json::parse(session.lint({"job.sh", "--sarif"}).out);
  CHECK(document["version"] == "2.1.0");
  REQUIRE(document["runs"].size() == 1);
  const auto& run = document["runs"][0];
  CHECK(run["tool"]["driver"]["name"] == "dtsubmit lint");
  const auto& rules = run["tool"]["driver"]["rules"];
  CHECK(rules.size() >= 30);
  for (const auto& rule : rules) {
    CHECK(rule["id"].is_string());
    CHECK(rule["shortDescription"]["text"].is_string());
    CHECK(rule["help"]["text"].is_string());
  }
  REQUIRE(run["results"].size() > 3);
  bool has_fix = false;
  for (const auto& result : run["results"]) {
    CHECK(rules.at(result["ruleIndex"].get<std::size_t>())["id"] == result["ruleId"]);
    CHECK(std::set<std::string>{"note", "warning", "error"}.contains(result["level"]));
    CHECK(result["message"]["text"].is_string());
    const auto& place = result["locations"].at(0)["physicalLocation"];
    CHECK(place["artifactLocation"]["uri"] == "job.sh");
    CHECK(place["region"]["startLine"].get<int>() >= 1);
    CHECK(place["region"]["startColumn"].get<int>() >= 1);
    if (!result.contains("fixes")) continue;
    has_fix = true;
    const auto& change = result["fixes"].at(0)["artifactChanges"].at(0);
    CHECK(change["replacements"].at(0)["deletedRegion"]["startLine"].is_number());
    CHECK(change["replacements"].at(0)["insertedContent"]["text"].is_string());
  }
  CHECK(has_fix);
  // A blank is not allowed in a URI.
  REQUIRE(write_file(session.file("a b.sh"), k_script));
  const auto spaced = nlohmann::json::parse(session.lint({"a b.sh", "--sarif"}).out);
  CHECK(spaced["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
              ["uri"] == "a%20b.sh");
}

TEST_CASE("--fix mends what is safe, keeps the mode, and does it once") {
  const LintSession session;
  const Output output = session.lint({"job.sh", "--fix"});
  CHECK(output.exit_code == 1);
  CHECK(contains(output.out, "job.sh: rewritten"));
  const auto fixed = read_file(session.file("job.sh"));
  REQUIRE(fixed);
  CHECK(contains(*fixed, "MASTER_PORT=$((20000 + SLURM_JOB_ID % 12000))"));
  CHECK(contains(*fixed, "set -o pipefail\n"));
  CHECK(contains(*fixed, "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK\n"));

  struct stat info {};

  REQUIRE(::stat(session.file("job.sh").c_str(), &info) == 0);
  CHECK((info.st_mode & 07777U) == 0755);
  const auto left = rules_in(session.lint({"job.sh", "--json"}));
  for (const char* rule : {"fixed-port", "pipe-hides-exit", "srun-loses-cores"}) {
    CAPTURE(rule);
    CHECK_FALSE(has(left, rule));
  }
  CHECK(has(left, "master-cut-from-list"));  // needs a decision, so it is not fixed
  const Output again = session.lint({"job.sh", "--fix"});
  CHECK_FALSE(contains(again.out, "rewritten"));
  CHECK(*read_file(session.file("job.sh")) == *fixed);
  CHECK(session.shell("bash -n job.sh").exit_code == 0);
}

TEST_CASE("--severity, --disable and comments choose") {
  const LintSession session;
  CHECK(rules_in(session.lint({"job.sh", "--json", "--severity", "error"})) ==
        std::vector<std::string>{"master-is-localhost", "rank-of-batch-shell"});
  CHECK_FALSE(has(rules_in(session.lint({"job.sh", "--json", "--disable", "fixed-port,exit-lost"})),
                  "fixed-port"));
  REQUIRE(write_file(session.file("quiet.sh"),
                     "#!/bin/bash\n# dtsubmit: disable=fixed-port\n#SBATCH --nodes=2\n"
                     "export MASTER_PORT=29500\n"));
  CHECK(session.lint({"quiet.sh"}).exit_code == 0);
}

TEST_CASE("rules are listed and explained") {
  const LintSession session;
  const Output list = session.dtsubmit({"lint", "--rules"});
  CHECK(list.exit_code == 0);
  CHECK(std::count(list.out.begin(), list.out.end(), '\n') >= 30);
  CHECK(contains(list.out, "\nfixed-port "));
  const Output one = session.dtsubmit({"lint", "--explain", "srun-loses-cores"});
  CHECK(one.exit_code == 0);
  check_golden("lint-explain.txt", one.out);
  const Output slip = session.dtsubmit({"lint", "--explain", "fixed-prot"});
  CHECK(slip.exit_code == 2);
  CHECK(contains(slip.err, "`fixed-port`"));
}

TEST_CASE("a secret is found and not repeated") {
  const LintSession session;
  const std::string token = "hf_aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zZcC";
  REQUIRE(write_file(session.file("secret.sh"), "#!/bin/bash\nexport HF_TOKEN=" + token + "\n"));
  for (const char* format : {"--json", "--sarif", "--severity=note"}) {
    const Output output = session.lint({"secret.sh", format});
    CHECK(contains(output.out, "token-in-script"));
    CHECK_FALSE(contains(output.out, token));
  }
}

TEST_CASE("job files: what submit would refuse, with its place") {
  const LintSession session;
  REQUIRE(write_file(session.file("job.toml"),
                     "nodes = 2\ngpus_per_nod = 8\ntime = \"soon\"\ncommand = [\"a\"]\n"));
  const Output output = session.lint({"job.toml"});
  CHECK(output.exit_code == 1);
  CHECK(contains(output.out, "job.toml:2:1: error: "));
  CHECK(contains(output.out, "job.toml:3:8: error: "));
  CHECK(contains(output.out, "[job-file]"));
  REQUIRE(write_file(session.file("good.toml"), "nodes = 2\ncommand = [\"a\"]\n"));
  CHECK(session.lint({"good.toml"}).exit_code == 0);
  REQUIRE(write_file(session.file("broken.toml"), "nodes = \n"));
  CHECK(contains(session.lint({"broken.toml"}).out, "broken.toml:1:"));
  REQUIRE(write_file(session.file("job.json"), "{\"nodes\": -1}"));
  CHECK(contains(session.lint({"job.json"}).out, "job.json:1:11: error: "));
}

TEST_CASE("several files, one of them missing: the others are looked at") {
  const LintSession session;
  const Output output = session.lint({"nowhere.sh", "job.sh"});
  CHECK(output.exit_code == 6);
  CHECK(contains(output.err, "nowhere.sh"));
  CHECK(contains(output.out, "[fixed-port]"));
  const Output folder = session.lint({"."});
  CHECK(folder.exit_code == 3);
  CHECK(contains(folder.err, "is a folder"));
  for (const char* verb : {"lint", "convert"})
    CHECK(contains(session.dtsubmit({verb, "/bin/true"}).err, "/bin/true is not text"));
}

TEST_CASE("standard input and pipes are read") {
  const LintSession session;
  const Output piped = session.shell("cat job.sh | \"$DTSUBMIT\" lint --slurm 22.05 -");
  CHECK(piped.exit_code == 1);
  CHECK(contains(piped.out, "-:11:8: warning: port 29500"));
  const Output fixed = session.shell("cat job.sh | \"$DTSUBMIT\" lint --slurm 22.05 --fix -");
  CHECK(fixed.exit_code == 3);
  CHECK(contains(fixed.err, "cannot be rewritten"));
}

TEST_CASE("hostile files end in findings, not in a crash") {
  const LintSession session;
  const std::string head = "#!/bin/bash\n#SBATCH --nodes=1\n";
  const auto lint = [&](const std::string& text) {
    REQUIRE(write_file(session.file("x.sh"), text));
    const Output output = session.lint({"x.sh"});
    CHECK(output.exit_code <= 1);
    CHECK(output.err.empty());
    return output.out;
  };
  CHECK(contains(lint(head + std::string("a\0b\n", 4)), "[nul-byte]"));
  CHECK(contains(lint(head + "echo \"open\n"), "[syntax-error]"));
  CHECK(contains(lint(head + "\xff\xfe\x1b[31m export MASTER_PORT='\n"), "[syntax-error]"));
  CHECK_FALSE(contains(lint(head + "\x1b[31m export MASTER_PORT='\n"), "\x1b"));
  CHECK(contains(lint(""), "[empty-script]"));
  lint(head + std::string(100'000, '('));
  lint(head + "x=$x$x$x$x\nx=$x$x$x$x\nsrun $x $x $x\n");
  std::string nested = head;
  for (int i = 0; i < 10'000; ++i) nested += "$(\"`";
  CHECK(contains(lint(nested), "[syntax-error]"));
  // A line of 100 MB is not read.
  CHECK(session.shell("head -c 100000000 /dev/zero | tr '\\0' a > big.sh").exit_code == 0);
  const Output big = session.lint({"big.sh"});
  CHECK(big.exit_code == 1);
  CHECK(contains(big.out, "[script-too-large]"));
}

TEST_CASE("slips of the pen are usage errors") {
  const LintSession session;
  for (const Words& words : std::vector<Words>{{"lint"},
                                               {"lint", "--slurm", "new", "job.sh"},
                                               {"lint", "--severity", "bad", "job.sh"},
                                               {"lint", "--disable", "fixed-prot", "job.sh"},
                                               {"lint", "--json", "--sarif", "job.sh"},
                                               {"lint", "--fxi", "job.sh"}}) {
    const Output output = session.dtsubmit(words);
    CHECK(output.exit_code == 2);
    CHECK(output.out.empty());
    CHECK_FALSE(output.err.empty());
  }
}

TEST_CASE("shell in a job file is read: the set-up, and what a shell is given") {
  const LintSession session;
  REQUIRE(write_file(session.file("bad.toml"),
                     "nodes = 2\n"
                     "setup = [\n"
                     "  \"cd work\",\n"
                     "  \"export CUDA_LAUNCH_BLOCKING=1\",\n"
                     "]\n"
                     "[[steps]]\n"
                     "name = \"train\"\n"
                     "command = [\"bash\", \"-c\", \"python train.py | tee log\"]\n"));
  const Output bad = session.lint({"bad.toml"});
  CHECK(bad.exit_code == 1);
  CHECK(contains(bad.out, "bad.toml:4:11: warning"));
  CHECK(contains(bad.out, "[kernels-one-by-one]"));
  CHECK(contains(bad.out, "bad.toml:8:27: warning"));
  CHECK(contains(bad.out, "[pipe-hides-exit]"));
  REQUIRE(
      write_file(session.file("good.toml"),
                 "nodes = 2\n"
                 "setup = [\"cd work\"]\n"
                 "[[steps]]\n"
                 "name = \"train\"\n"
                 "command = [\"bash\", \"-c\", \"set -o pipefail; python train.py | tee log\"]\n"));
  CHECK(session.lint({"good.toml"}).exit_code == 0);
}

TEST_CASE("the controller is asked only with --slurm controller") {
  LintSession session;
  const std::string asked = session.file("asked");
  REQUIRE(write_file(session.file("scontrol"),
                     "#!/bin/sh\n[ \"$1\" = --version ] || touch " + asked +
                         "\n[ \"$1\" = --version ] && echo slurm 23.02.1\n",
                     0755));
  session.environment["PATH"] = session.path + ":" + session.environment["PATH"];
  session.environment["DTSUBMIT_SCHEDULER"] = "slurm-commands";
  CHECK(session.dtsubmit({"lint", "job.sh"}).exit_code == 1);
  CHECK_FALSE(std::filesystem::exists(asked));
  const Output output = session.dtsubmit({"lint", "--slurm", "controller", "job.sh"});
  CHECK(std::filesystem::exists(asked));
  CHECK(output.exit_code == 2);
  CHECK(contains(output.err, "--slurm: no answer from the controller, waiting at most 2 s"));
}

TEST_CASE("without --slurm the release is that of what is installed, or any") {
  const LintSession session;
  const auto document = nlohmann::json::parse(session.dtsubmit({"lint", "job.sh", "--json"}).out);
  const bool is_known = document["slurm_from"] == "installed" && document["slurm"].is_string();
  const bool is_any = document["slurm_from"].is_null() && document["slurm"].is_null();
  CHECK((is_known || is_any));
  const auto named = nlohmann::json::parse(session.lint({"job.sh", "--json"}).out);
  CHECK(named["slurm_from"] == "option");
}
