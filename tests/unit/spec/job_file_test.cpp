// SPDX-License-Identifier: Apache-2.0
// Job files in TOML and JSON: the meaning of each value, and the place of each mistake.
#include "core/base/text/text.hpp"
#include "core/spec/file/document.hpp"
#include "core/spec/file/layers.hpp"
#include "core/spec/file/locate.hpp"
#include "core/spec/file/words.hpp"
#include "core/spec/file/write.hpp"
#include "core/spec/json.hpp"
#include "core/spec/parts.hpp"
#include "tests/support/contains.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <map>

namespace dts::spec {
namespace {

using dts::tests::contains;
using nlohmann::json;

std::string words_of(const Diagnostics& problems) {
  std::string text;
  for (const Diagnostic& problem : problems) text += to_text(problem) + "\n";
  return text;
}

struct Read {
  JobSpec spec;
  std::string problems;
};

Read read(const std::string& text, const std::string& file = "job.toml") {
  Read result;
  Diagnostics problems;
  const auto document =
      contains(file, ".json") ? parse_json(text, file, problems) : parse_toml(text, file, problems);
  if (document) apply(settle({layer_of(*document, problems)}), result.spec, problems);
  result.problems = words_of(problems);
  return result;
}

JobSpec good(const std::string& text, const std::string& file = "job.toml") {
  const Read result = read(text, file);
  CHECK(result.problems == "");
  return result.spec;
}

Layer layer(const std::string& text) {
  Diagnostics problems;
  const auto document = parse_toml(text, "layer.toml", problems);
  REQUIRE(document);
  Layer settings = layer_of(*document, problems);
  CHECK(words_of(problems) == "");
  return settings;
}

JobSpec merged(const std::vector<Layer>& layers) {
  JobSpec spec;
  Diagnostics problems;
  apply(settle(layers), spec, problems);
  CHECK(words_of(problems) == "");
  return spec;
}

Setting typed(const std::string& name, const std::vector<std::string>& texts) {
  for (const Option& option : options())
    if (option.long_name() == name) return setting_of(option, texts, name);
  FAIL("no option " << name);
  return {};
}

}  // namespace

TEST_CASE("a TOML value is what the option accepts, or what spec.json holds") {
  const JobSpec spec = good(R"(
# a comment
nodes = 2
gpus_per_node = "a100:4"
time = "2:00:00"
time_total = 12:00:00     # a time of day in TOML
mem = "32gb"
hang_timeout = 20
stop_signal = "USR1"
requeue = false
exclusive = true
nice = -5
begin = 2027-01-20T12:34:00
framework = ["torch", "jax"]
module = ["gcc/12", "cuda/12.4"]
setup = "export A='b'"
command = ["python3", "train.py", "--lr", "0.1"]
[slurm]
power-x = "level"
)");
  CHECK(spec.nodes == 2);
  CHECK(spec.totals.nodes_given);
  CHECK(spec.gpus_per_node == 4U);
  CHECK(spec.gpu_type == "a100");
  CHECK(spec.time == std::chrono::hours(2));
  CHECK(spec.time_total == std::chrono::hours(12));
  CHECK(spec.memory_mib == 32U * 1024);
  CHECK(spec.hang_timeout == std::chrono::seconds(20));
  CHECK(spec.stop_signal == 10);
  CHECK_FALSE(spec.requeue);
  CHECK(spec.slurm.at("exclusive").empty());
  CHECK(spec.slurm.at("nice") == "-5");
  CHECK(spec.slurm.at("begin") == "2027-01-20T12:34:00");
  CHECK(spec.frameworks == std::vector<std::string>{"torch", "jax"});
  CHECK(spec.modules == std::vector<std::string>{"gcc/12", "cuda/12.4"});
  CHECK(spec.setup == std::vector<std::string>{"export A='b'"});
  CHECK(spec.slurm_site.at("power-x") == "level");
  CHECK(spec.command.size() == 4);
}

TEST_CASE("TOML and JSON with comments are equivalent, in either spelling of a key") {
  const std::string toml =
      to_json(good("mem = 2048\ncommand = \"python3 a.py 'b c'\"\nruns = \"r\""));
  CHECK(toml == to_json(good(R"({ // one
    "memory_mib": "2G", /* two */ "command": ["python3", "a.py", "b c"] })",
                             "job.json")));
}

TEST_CASE("the content of spec.json is also a job file") {
  JobSpec spec;
  spec.nodes = 3;
  spec.time = std::chrono::minutes(90);
  spec.hang_timeout = std::chrono::minutes(20);
  spec.slurm = {{"exclusive", ""}, {"comment", "a b"}};
  spec.setup = {"setup.sh"};
  spec.command = {"./train", "r\xe9sultat.txt"};
  CHECK(to_json(good(to_json(spec), "spec.json")) == to_json(spec));
}

TEST_CASE("every mistake in a file is named with its place, all at once") {
  const std::string text =
      read(
          "node = 2\ntime = \"soon\"\n\tnodes = true\nmem = 1\nmemory_mib = 2\n"
          "job-name = \"a\"\n[slurm]\nPower = 1\n")
          .problems;
  CHECK(contains(text, "job.toml:1:1: unknown key `node`"));
  CHECK(contains(text, "did you mean `nodes`?"));
  CHECK(contains(text, "job.toml:2:8: time: `soon` is not a time"));
  CHECK(contains(text, "    | time = \"soon\"\n    |        ^"));
  CHECK(contains(text, "job.toml:3:10: nodes: expected a whole number"));
  CHECK(contains(text, "    |  nodes = true\n    |          ^"));
  CHECK(contains(text, "given twice: `mem` means the same"));
  CHECK(contains(text, "did you mean `job_name`?"));
  CHECK(contains(text, "job.toml:8:9: slurm.Power: `Power` is not the long name"));
}

TEST_CASE("a syntax error is named with its place") {
  CHECK(contains(read("nodes = 2\nnodes = 3\n").problems, "job.toml:2:9: not TOML:"));
  CHECK(contains(read("a = \n").problems, "job.toml:1:5: not TOML:"));
  CHECK(contains(read("{\"nodes\": 1, \"nodes\": 2}", "job.json").problems,
                 "job.json:1:14: key `nodes` is given twice"));
  CHECK(contains(read("[1]", "job.json").problems, "expected an object"));
}

TEST_CASE("what is often wrong with a line is said") {
  const std::pair<const char*, const char*> lines[] = {
      {"mem = 16G  # of each node\n", "help: text is in quotes: mem = \"16G\""},
      {"job_name = my job\n", "help: text is in quotes: job_name = \"my job\""},
      {"time = \"4:00\n", "help: the closing quotation mark is missing: time = \"4:00\""},
      {"time = 4:00:00\n", "help: text is in quotes: time = \"4:00:00\""},
      {"requeue = True\n", "help: a truth value has small letters: requeue = true"},
      {"nodes: 2\n", "help: TOML has `=` after a key: nodes = ..."},
      {"name = \"x\"\n", "help: did you mean `job_name`?"},
      {"num_nodes = 2\n", "help: did you mean `nodes`?"},
      {"wrap = \"ls\"\n", "help: write the program after `--`"},
      {"[env]\nA = 1\n", "--export ALL,NAME=VALUE"},
      {"[slurm]\npower = \"x\"\npartition = \"low\"\n",
       "job.toml:3:13: slurm.partition: --partition is an option of dtsubmit"},
  };
  for (const auto& line : lines) {
    CAPTURE(line.first);
    CHECK(contains(read(line.first).problems, line.second));
  }
  CHECK_FALSE(contains(read("nodes = 2\nnodes = 3\n").problems, "help:"));
  CHECK_FALSE(contains(read("command = [\"a\", b]\n").problems, "help:"));
  CHECK_FALSE(contains(read("command = [\"a\",\n\"http://b\" c]\n").problems, "help:"));
  CHECK_FALSE(contains(read("nodes 2  # note: of GPUs\n").problems, "help:"));
}

TEST_CASE("hostile files are refused with a message") {
  for (const std::string file : {"job.toml", "job.json"}) {
    CAPTURE(file);
    CHECK(contains(read(std::string(20'000'000, ' '), file).problems, "20000000 bytes"));
    CHECK(contains(read(std::string("a\n\0", 3), file).problems, file + ":2:1: a NUL byte"));
    CHECK(contains(read("a = \"\xff\"", file).problems, file + ":1:6: a byte that is not part"));
  }
  CHECK(contains(read("a = " + std::string(100'000, '[')).problems, "not TOML"));
  CHECK(contains(read("a = " + std::string(30, '[') + std::string(30, ']')).problems,
                 "nested deeper than 16"));
  CHECK(contains(read(std::string(100'000, '['), "job.json").problems, "nested deeper than 16"));
  // Input for which toml++ itself made an unchecked assumption.
  CHECK(contains(read("[[[a]]\n").problems, "job.toml:1:3: not TOML"));
  CHECK(contains(read("a\xc3\x97 = 1").problems, "not TOML"));
  CHECK(contains(read("comment = nan\nnice = inf").problems, "job.toml:2:8: nice: `inf`"));
  std::string dots = "a";
  for (int i = 0; i < 1000; ++i) dots += ".a";
  CHECK_FALSE(read(dots + " = 1").problems.empty());
  CHECK_FALSE(read("partition = \"a\\u0000b\"").spec.partition.empty());  // left to validate()
}

TEST_CASE("a later layer overrides by key, and hides other spellings of the same") {
  const Layer site = layer(
      "partition = \"low\"\nmem_per_gpu = \"4G\"\nsignal = \"USR1@60\"\n"
      "module = [\"a\", \"b\"]\nno_requeue = true\n");
  const Layer job = layer("partition = \"high\"\nmem = \"8G\"\nmodule = [\"c\"]\nnodes = 4\n");
  const JobSpec spec =
      merged({site, job, {typed("--stop-signal", {"TERM"}), typed("--requeue", {})}});
  CHECK(spec.partition == "high");
  CHECK(spec.memory_mib == 8192U);
  CHECK(spec.slurm.count("mem-per-gpu") == 0);
  CHECK(spec.modules == std::vector<std::string>{"c"});
  CHECK(spec.stop_signal == 15);
  CHECK(spec.signal_margin.count() == 60);
  CHECK(spec.requeue);
  CHECK(spec.nodes == 4);
  CHECK(merged({job, layer("partition = \"\"\nmodule = []")}).partition.empty());
}

TEST_CASE("the GPUs of a later layer replace an earlier one's in either spelling") {
  const auto gpus = [](const char* earlier, const char* later) {
    return merged({layer(earlier), layer(later)}).gpus_per_node;
  };
  CHECK(gpus("gpus_per_node = 4", "gres = \"gpu:8\"") == 8U);
  CHECK(gpus("gres = \"gpu:a100:4\"", "gpus_per_node = 2") == 2U);
  const JobSpec both = merged({layer("gpus_per_node = 4"), layer("gres = \"gpu:8,nvme:1\"")});
  CHECK(both.gpus_per_node == 8U);
  CHECK(both.slurm.at("gres") == "nvme:1");
  CHECK(gpus("gpus_per_node = 4", "gres = \"nvme:1\"") == 4U);
}

TEST_CASE("a problem of an option is named where its value was written") {
  Diagnostics problems{{"--nodes", "at least 1, not 0"}, {"command", "empty"}, {"size", "other"}};
  locate(layer("\nnodes = 0\ncommand = []\n"), problems);
  CHECK(to_text(problems[0]) ==
        "layer.toml:2:9: nodes: at least 1, not 0\n    | nodes = 0\n    |         ^");
  CHECK(problems[1].where == "layer.toml:3:11");
  CHECK(problems[2].where == "size");
}

TEST_CASE("a problem of a part is named where the part, its option or the job's option is") {
  Diagnostics problems{{"role `a`", "it has no command"},
                       {"role `b`: --nodes", "at least 1, not 0"},
                       {"role `b`: --launcher", "not here"},
                       {"role `a`: --time", "too long"},
                       {"role `c`", "other"},
                       {"step `a`", "other"}};
  locate(
      layer("launcher = \"srun\"\n[[roles]]\nname = \"a\"\n[[roles]]\nname = \"b\"\nnodes = 0\n"),
      problems);
  const auto first_line = [&](std::size_t i) { return split(to_text(problems[i]), '\n').front(); };
  CHECK(first_line(0) == "layer.toml:2:1: roles[0]: it has no command");
  CHECK(first_line(1) == "layer.toml:6:9: roles[1].nodes: at least 1, not 0");
  CHECK(first_line(2) == "layer.toml:1:12: launcher: role `b`: not here");
  CHECK(first_line(3) == "layer.toml:2:1: roles[0]: --time: too long");
  CHECK(problems[4].where == "role `c`");
  CHECK(problems[5].where == "step `a`");
}

TEST_CASE(
    "a part with an unreadable key does not hide the mistakes of the others, each reported once") {
  Diagnostics problems;
  const auto document = parse_toml(
      "[[roles]]\nname = \"a\"\ncommand = 3\n[[roles]]\nnam = \"b\"\ncommand = [\"x\"]\n"
      "[[roles]]\nname = \"c\"\nnodes = 0\n",
      "layer.toml",
      problems);
  REQUIRE(document);
  const Layer settings = layer_of(*document, problems);
  JobSpec spec;
  apply(settings, spec, problems);
  resolve_parts(spec, problems);
  check_parts(spec, problems);
  locate(settings, problems);
  const std::string text = words_of(problems);
  CAPTURE(text);
  CHECK(problems.size() == 4);
  for (const char* words : {"layer.toml:3:11: roles[0].command: expected a list",
                            "layer.toml:5:1: unknown key `nam`",
                            "layer.toml:7:1: roles[2]: it has no command",
                            "layer.toml:9:9: roles[2].nodes: at least 1, not 0"})
    CHECK(contains(text, words));
}

TEST_CASE("a command in one text is split as a shell would, and never expanded") {
  const auto split = [](const char* text) { return split_words(text).value(); };
  using Words = std::vector<std::string>;
  CHECK(split("python3 -u  a.py") == Words{"python3", "-u", "a.py"});
  CHECK(split("a 'b c' \"d \\\" \\n\" e\\ f ''") == Words{"a", "b c", "d \" \\n", "e f", ""});
  CHECK(split("a#b c~ '$x'") == Words{"a#b", "c~", "$x"});
  CHECK(split("").empty());
  for (const char* text : {"a $B",
                           "a \"$B\"",
                           "a | b",
                           "a; b",
                           "a > b",
                           "ls *",
                           "a `b`",
                           "a &",
                           "'a",
                           "\"a",
                           "a\\",
                           "~/x",
                           "a #b"}) {
    CAPTURE(text);
    CHECK_FALSE(split_words(text));
  }
}

TEST_CASE("settings survive a round trip through TOML and JSON") {
  Layer settings = layer(
      "nodes = 2\ntime = \"1:00:00\"\nrequeue = false\ncomment = \"a \\\"b\\\" \\\\ \\u007f é\"\n"
      "slurm = {power-x = \"level\"}\nsetup = [\"a\", \"b 'c'\"]\n");
  settings.push_back(typed("--cpus-per-task", {"4"}));
  settings.push_back(setting_of_command({"python3", "it's", "r\xe9"}));
  const std::string expected = to_json(merged({settings}));
  CHECK(to_json(good(to_toml(settings, Origins::omitted))) == expected);
  CHECK(to_json(good(to_toml(settings, Origins::shown))) == expected);
  CHECK(to_json(good(to_job_json(settings), "job.json")) == expected);
  CHECK(contains(to_toml(settings, Origins::shown), "nodes = 2  # layer.toml:1:9\n"));
  CHECK(contains(to_toml(settings, Origins::shown), "cpus_per_task = 4  # --cpus-per-task\n"));
  CHECK(contains(to_toml(settings, Origins::shown), "# signal_margin = 120  # built-in\n"));
}

TEST_CASE("the variables of options belong to them alone") {
  std::map<std::string, int> count;
  for (const Option& option : options())
    for (const std::string& name : option.own_variables()) ++count[name];
  for (const auto& row : count) CHECK_MESSAGE(row.second == 1, row.first);
  CHECK(count.count("DTSUBMIT_NODES") == 1);
  CHECK(count.count("DTSUBMIT_RUNS") == 1);
  CHECK(count.count("DTSUBMIT_SSH") == 1);
  // Variables that ranks get, and those read elsewhere.
  for (const char* name : {"ATTEMPT",
                           "RUN_DIR",
                           "BEAT",
                           "CHECKPOINT_DIR",
                           "CHECKPOINT_EVERY",
                           "DEADLINE",
                           "BEGIN_ANEW",
                           "QUIET_LIMIT",
                           "STORAGE_LIMIT",
                           "PLUGIN_PATH",
                           "SCHEDULER",
                           "SETUP_FOLDER",
                           "SITE_FOLDER",
                           "CLUSTER",
                           "TOPOLOGY"})
    CHECK_MESSAGE(count.count(std::string("DTSUBMIT_") + name) == 0, name);
}

TEST_CASE("the schema knows every key that the reader knows") {
  const json schema = json::parse(job_file_schema());
  for (const std::string& key : known_keys(Spelling::typed))
    CHECK_MESSAGE(schema["properties"].contains(key), key);
  CHECK(schema["properties"].size() == known_keys(Spelling::typed).size());
  CHECK(schema["properties"]["requeue"]["type"] == "boolean");
}

}  // namespace dts::spec
