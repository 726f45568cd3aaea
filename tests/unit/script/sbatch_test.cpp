// SPDX-License-Identifier: Apache-2.0
// The batch script against the two programs that read it: sbatch's lexer and bash.
#include "core/script/sbatch.hpp"

#include "core/base/files/files.hpp"
#include "core/base/hash.hpp"
#include "core/base/os/process.hpp"
#include "core/base/text/text.hpp"
#include "core/script/submission.hpp"
#include "core/script/template/shell_output.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/sbatch_lexer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace dts::script {
namespace {

ScriptContext context() {
  ScriptContext c;
  c.run_dir = "/home/u/runs/train-1";
  c.dtsubmit = "/usr/bin/dtsubmit";
  c.version = "0.1.0";
  return c;
}

spec::JobSpec request() {
  spec::JobSpec spec;
  spec.job_name = "train";
  spec.nodes = 2;
  spec.gpus_per_node = 8;
  spec.partition = "low";
  spec.time = std::chrono::seconds(3600);
  spec.command = {"true"};
  return spec;
}

plan::Plan plan_of(const spec::JobSpec& spec) {
  const auto plan = plan::make_plan(spec, {}, "dttrain");
  REQUIRE(plan);
  return *plan;
}

Result<std::string> rendered(const spec::JobSpec& spec, const ScriptContext& c) {
  return render_sbatch(spec, plan_of(spec), c);
}

bool has_line(const std::string& script, const std::string& line) {
  const auto lines = split(script, '\n');
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

using dts::tests::contains;

// Bytes as people and attackers write them: mostly the characters that mean something to somebody.
std::string random_text(std::mt19937& random, std::size_t longest) {
  static const std::string k_loaded = "\\\"'`$#%:;&|<>(){}[]*?!~= \t\n\r\x01\x7f{{}}ab/.-0";
  std::string text;
  for (std::size_t n = random() % (longest + 1); n > 0; --n)
    text += random() % 4 == 0 ? static_cast<char>(random()) : k_loaded[random() % k_loaded.size()];
  return text;
}

// The words that real bash makes of `words`, one after the other.
std::vector<std::string> bash_words(const std::vector<std::string>& words) {
  std::string script = "printf '%s\\0'";
  for (const std::string& word : words) script += " " + word;
  const std::string file = "/tmp/dtsubmit-words-" + random_hex(8);
  REQUIRE(write_file(file, script));
  Command bash;
  bash.argv = {"bash", "--norc", file};
  const auto output = run_process(bash, std::chrono::seconds(20));
  REQUIRE(remove_all(file));
  REQUIRE(output);
  CAPTURE(output->err);
  REQUIRE(output->exit_code == 0);
  auto parts = split(output->out, '\0');
  parts.pop_back();
  return parts;
}

}  // namespace

TEST_CASE("the script holds every option once, and the agent") {
  const auto script = rendered(request(), context());
  REQUIRE(script);
  for (const char* line : {"#SBATCH --job-name=\"train\"",
                           "#SBATCH --nodes=\"2\"",
                           "#SBATCH --ntasks-per-node=\"8\"",
                           "#SBATCH --gpus-per-node=\"8\"",
                           "#SBATCH --partition=\"low\"",
                           "#SBATCH --time=\"01:00:00\"",
                           "#SBATCH --requeue",
                           "#SBATCH --signal=\"B:USR1@120\"",
                           "#SBATCH --open-mode=\"append\"",
                           "#SBATCH --output=\"/home/u/runs/train-1/slurm-%j.log\"",
                           "exec /usr/bin/dtsubmit agent --run /home/u/runs/train-1"})
    CHECK_MESSAGE(has_line(*script, line), std::string(line));
  CHECK(std::count(script->begin(), script->end(), '\n') <= 30);
}

TEST_CASE("what was not asked is not in the script") {
  spec::JobSpec spec = request();
  spec.gpus_per_node.reset();
  spec.partition.clear();
  spec.time.reset();
  spec.requeue = false;
  const auto script = rendered(spec, context());
  REQUIRE(script);
  for (const char* option :
       {"--gpus-per-node", "--partition", "--time", "--account", "--qos", "--mem", "--requeue"})
    CHECK_FALSE(contains(*script, option));
  CHECK(has_line(*script, "#SBATCH --no-requeue"));
  CHECK(has_line(*script, "#SBATCH --ntasks-per-node=\"1\""));
  CHECK(contains(*script, "--signal"));  // the partition may have a limit
  spec.time = std::chrono::seconds::max();
  CHECK_FALSE(contains(*rendered(spec, context()), "--signal"));
  spec.memory_mib = 0;
  CHECK(has_line(*rendered(spec, context()), "#SBATCH --mem=\"0\""));
}

TEST_CASE("directives are sorted, so that two scripts can be compared") {
  const auto directives = make_directives(request(), plan_of(request()), context());
  REQUIRE(directives);
  CHECK(std::is_sorted(directives->begin(),
                       directives->end(),
                       [](const Directive& a, const Directive& b) { return a.name < b.name; }));
}

TEST_CASE("a heterogeneous job has the lines of each component, with the job's name and time") {
  spec::JobSpec spec = request();
  spec.heterogeneous = true;
  spec.roles.resize(2);
  spec.slurm["dependency"] = "afterok:12";
  ScriptContext c = context();
  for (spec::Part& role : spec.roles) {
    role.job = request();
    role.job.job_name = "role";
    role.job.slurm = spec.slurm;
    c.parts.push_back(plan_of(role.job));
  }
  spec.roles[1].job.partition = "gpu";
  const auto submission = make_submission(spec, plan_of(request()), {.parts = c.parts});
  REQUIRE(submission.components.size() == 1);
  CHECK(submission.partition == "low");
  CHECK(submission.once.count("dependency") == 1);
  CHECK(submission.components[0].partition == "gpu");
  CHECK(submission.components[0].once.empty());
  CHECK(submission.components[0].time_limit == spec.time);
  const auto script = render_sbatch(spec, plan_of(request()), c);
  REQUIRE(script);
  const std::size_t middle = script->find("\n#SBATCH hetjob\n");
  REQUIRE(middle != std::string::npos);
  const std::string first = script->substr(0, middle), second = script->substr(middle);
  CHECK(contains(first, "--partition=\"low\""));
  CHECK(contains(first, "--output="));
  CHECK(contains(second, "--partition=\"gpu\""));
  CHECK_FALSE(contains(second, "--output="));
  for (const std::string& half : {first, second}) CHECK(contains(half, "--job-name=\"train\""));
}

TEST_CASE("--export says which variables of the submitting shell a job gets") {
  const std::vector<std::string> shell{"A=1", "B=2", "HOME=/h", "DTSUBMIT_X=3", "PATH=/bin"};
  const auto handed_on = [&](const std::string& list) {
    spec::JobSpec spec = request();
    if (!list.empty()) spec.slurm["export"] = list;
    const auto submission = make_submission(spec, plan_of(request()), {.environment = shell});
    CHECK(submission.options.count("export") == 0);
    return join(submission.environment, " ");
  };
  const std::string login = " SLURM_GET_USER_ENV=1";
  CHECK(handed_on("") == "A=1 B=2 HOME=/h DTSUBMIT_X=3 PATH=/bin");
  CHECK(handed_on("ALL") == handed_on(""));
  CHECK(handed_on("NONE") == "HOME=/h DTSUBMIT_X=3" + login);
  CHECK(handed_on("nil") == "HOME=/h DTSUBMIT_X=3");
  CHECK(handed_on("B,NO") == "B=2 HOME=/h DTSUBMIT_X=3" + login);
  CHECK(handed_on("A=7,B,C='x,y'") == "B=2 HOME=/h DTSUBMIT_X=3 A=7 C=x,y" + login);
  CHECK(handed_on("ALL,A=7") == "B=2 HOME=/h DTSUBMIT_X=3 PATH=/bin A=7");
  spec::JobSpec none = request();
  none.slurm["export"] = "NIL";
  const auto submission =
      make_submission(none, plan_of(request()), {.environment = {"SLURM_CONF=/etc/s.conf", "A=1"}});
  CHECK(submission.environment == std::vector<std::string>{"SLURM_CONF=/etc/s.conf"});
  CHECK_FALSE(contains(*rendered(request(), context()), "--export"));
}

TEST_CASE("set-up lines come before the agent") {
  ScriptContext c = context();
  c.setup = {"module purge", "module load cuda"};
  const auto script = rendered(request(), c);
  REQUIRE(script);
  CHECK(contains(*script, "module purge\nmodule load cuda\nexec "));
  c.setup = {"a\rb"};
  CHECK_FALSE(rendered(request(), c));
  c.setup = {std::string(5 << 20, 'x')};
  CHECK(contains(rendered(request(), c).error().message, "Slurm accepts 4194304"));
}

TEST_CASE("run folders that Slurm's file patterns would bend are doubled or refused") {
  ScriptContext c = context();
  c.run_dir = "/runs/100%j";
  CHECK(contains(*rendered(request(), c), "--output=\"/runs/100%%j/slurm-%j.log\""));
  for (const std::string bad : {"relative", "", "/a\nb", "/a\\b", "/a\x7f"}) {
    c.run_dir = bad;
    REQUIRE_FALSE(rendered(request(), c));
    CHECK(contains(rendered(request(), c).error().message, "run folder"));
  }
  c.run_dir = "/" + std::string(1100, 'x');
  CHECK(contains(rendered(request(), c).error().message, "--output: is 1"));
}

TEST_CASE(
    "property: hostile names and paths are refused or read back as they were by sbatch and bash") {
  std::mt19937 random(20220508);
  unsigned accepted = 0;
  std::vector<std::string> words, expected;
  for (int round = 0; round < 4000; ++round) {
    spec::JobSpec spec = request();
    spec.partition = random_text(random, 12);
    spec.slurm["account"] = random_text(random, 12);
    ScriptContext c = context();
    c.run_dir = "/" + random_text(random, 12);
    c.dtsubmit = "/" + random_text(random, 6);
    const auto plan = plan_of(request());
    const auto script = render_sbatch(spec, plan, c);
    if (!script) continue;
    ++accepted;
    const auto directives = make_directives(spec, plan, c);
    REQUIRE(directives);
    std::vector<std::string> wanted;
    for (const Directive& d : *directives)
      wanted.push_back("--" + d.name + (d.value.empty() ? "" : "=" + d.value));
    const auto read = tests::read_directives(*script);
    REQUIRE(read);
    REQUIRE(*read == wanted);
    // Its last line is the exec; what bash makes of the line's words is checked below, all in one
    // bash.
    const auto lines = split(*script, '\n');
    words.push_back(lines[lines.size() - 2]);
    for (const std::string& word :
         {std::string("exec"), c.dtsubmit, std::string("agent"), std::string("--run"), c.run_dir})
      expected.push_back(word);
  }
  CHECK(accepted > 300);
  const auto read = bash_words(words);
  REQUIRE(read.size() == expected.size());
  for (std::size_t i = 0; i < read.size(); ++i) REQUIRE(read[i] == expected[i]);
}

TEST_CASE("sbatch_quote escapes what sbatch reads, and only that") {
  CHECK(*sbatch_quote("") == "\"\"");
  CHECK(*sbatch_quote(R"(a"b\c'd#e $f `g` :)") == R"("a\"b\\c'd#e $f `g` :")");
  CHECK(sbatch_quote(std::string(1024, 'x')));
  CHECK_FALSE(sbatch_quote(std::string(1025, 'x')));
  CHECK_FALSE(sbatch_quote("a\nb"));
  CHECK_FALSE(sbatch_quote(std::string_view("a\0b", 3)));
}

// Templates of a site, by name.
ScriptContext with_templates(const std::map<std::string, std::string>& texts) {
  ScriptContext c = context();
  c.templates = [texts](const std::string& name) -> Result<std::optional<Template>> {
    const auto found = texts.find(name);
    if (found == texts.end()) return std::nullopt;
    return Template{"/etc/" + name, found->second};
  };
  return c;
}

TEST_CASE("a site's templates take the place of ours, whole or in part") {
  const auto part =
      rendered(request(), with_templates({{"prologue", "ulimit -l unlimited # {{job_name}}\n"}}));
  REQUIRE(part);
  CHECK(contains(
      *part,
      "unset BASH_ENV ENV CDPATH\nulimit -l unlimited # train\nexec /usr/bin/dtsubmit agent"));
  const auto whole = rendered(
      request(),
      with_templates(
          {{"sbatch",
            "#!/bin/bash -l\n{{>options}}\n{{#command}}: {{.}}\n{{/command}}{{>agent}}\n"}}));
  REQUIRE(whole);
  CHECK(contains(*whole, "#!/bin/bash -l\n#SBATCH --cpus"));
  CHECK(contains(*whole, "\n: true\nexec /usr/bin/dtsubmit agent"));
}

TEST_CASE("a template that makes no job of ours is refused") {
  const auto complaint = [](const std::string& text) {
    const auto script = rendered(request(), with_templates({{"sbatch", text}}));
    REQUIRE_FALSE(script);
    return script.error().message;
  };
  CHECK(contains(complaint("#!/bin/sh\n{{>options}}\n"), "does not start the agent"));
  CHECK(contains(complaint("{{>options}}\n{{>agent}}\n"), "does not begin with #!"));
  CHECK(contains(complaint("#!/bin/sh\n#SBATCH --mem=1\n{{>agent}}\n"),
                 "/etc/sbatch:2:1: an #SBATCH line"));
  CHECK(contains(complaint("#!/bin/sh\necho \"{{job_nam}}\"\n{{>agent}}\n"),
                 "did you mean `job_name`?"));
  CHECK(contains(complaint("#!/bin/sh\necho \"{{job_name}}\"\n{{>agent}}\n"),
                 "/etc/sbatch:2:7: job_name: a value cannot stand inside quotes"));
  ScriptContext c = context();
  c.template_name = "nobody";
  CHECK(contains(rendered(request(), c).error().message, "there is no template `nobody`"));
}

TEST_CASE("property: shell_quote and sbatch_quote are inverted by their readers") {
  std::mt19937 random(7);
  std::vector<std::string> words, expected;
  for (int round = 0; round < 2000; ++round) {
    std::string text = random_text(random, 40);
    text.erase(std::remove(text.begin(), text.end(), '\0'), text.end());
    words.push_back(shell_quote(text));
    expected.push_back(text);
    const auto quoted = sbatch_quote(text);
    CHECK(quoted.has_value() == is_printable(text));
    if (!quoted || text.empty()) continue;
    const auto read = tests::read_directives("#SBATCH --x=" + *quoted + "\n");
    REQUIRE(read);
    REQUIRE(*read == std::vector<std::string>{"--x=" + text});
  }
  CHECK(bash_words(words) == expected);
}

TEST_CASE("the lexer of these tests has sbatch's oddities") {
  using tests::read_directives;
  CHECK(*read_directives(R"(#SBATCH --a='x\y' --b=p#q)") ==
        std::vector<std::string>{"--a=xy", "--b=p"});
  CHECK(*read_directives("#SBATCH --a=\"x y\"z 'q'\n##SBATCH --no\n #SBATCH --no\n") ==
        std::vector<std::string>{"--a=x yz", "q"});
  CHECK(read_directives("#SBATCH -a\necho\n#SBATCH -b\n")->size() == 1);
  CHECK_FALSE(read_directives("#SBATCH --a=\"x\n"));
  CHECK_FALSE(read_directives("#SBATCH -a : -b\n"));
  CHECK_FALSE(read_directives("#SBATCHfoo\n"));
}

TEST_CASE("spares are asked for, and the job outlives a node; excluded nodes are a host list") {
  spec::JobSpec spec = request();
  spec.spares = 1;
  spec.exclude = "n3,n[4-5],m1";
  const auto script = rendered(spec, context());
  REQUIRE(script);
  CHECK(has_line(*script, R"(#SBATCH --nodes="3")"));
  CHECK(has_line(*script, "#SBATCH --no-kill"));
  CHECK(has_line(*script, R"(#SBATCH --exclude="n[3-5],m1")"));
  const auto plain = rendered(request(), context());
  REQUIRE(plain);
  CHECK_FALSE(contains(*plain, "no-kill"));
  CHECK_FALSE(contains(*plain, "--exclude"));
}

}  // namespace dts::script
