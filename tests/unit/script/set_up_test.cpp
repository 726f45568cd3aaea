// SPDX-License-Identifier: Apache-2.0
// The set-up's script, read by a real bash.
#include "core/script/set_up.hpp"

#include "core/base/os/process.hpp"
#include "core/base/text/text.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>

namespace dts::script {
namespace {

using tests::contains;

// The set-up with `profiles` in place of /etc/profile.d.
std::string script_with(const spec::JobSpec& spec, const std::string& profiles) {
  const std::string place = "/etc/profile.d/*mod*";
  std::string text = set_up_script(spec, {});
  if (const std::size_t at = text.find(place); at != std::string::npos)
    text.replace(at, place.size(), profiles + "/*mod*");
  return text;
}

// What it writes to its results, split at the NULs. `profiles`: in place of /etc/profile.d.
std::vector<std::string> results_of(
    const spec::JobSpec& spec,
    const std::vector<std::pair<std::string, std::string>>& environment = {},
    const std::string& profiles = "/none") {
  Command command;
  command.env = environment_with(environment);
  command.argv = {"bash", "-c", script_with(spec, profiles), "set-up", "1"};
  const auto output = run_process(std::move(command), std::chrono::seconds(20));
  REQUIRE(output);
  return split(output->out, '\0');
}

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

TEST_CASE("no set-up, no script") {
  CHECK(set_up_script({}, {}).empty());
  CHECK(tear_down_script({}).empty());
}

TEST_CASE("lines change the environment, one after another") {
  spec::JobSpec spec;
  spec.setup = {"export A='x y'\nexport B=\"$A z\"",
                "C=3; export C; unset HOME",
                "set -u; export -f dts_f 2>/dev/null || true"};
  const auto results = results_of(spec);
  CHECK(results.front() == "done");
  for (const char* entry : {"A=x y", "B=x y z", "C=3"}) CHECK(has(results, entry));
}

TEST_CASE("what fails is named: the step, its command, where it is and its code") {
  struct Case {
    const char* line;
    const char* command;
    const char* code;
  };

  for (const Case& c : {Case{"true; (exit 7); true", "( exit 7 )", "7"},
                        {"false", "false", "1"},
                        {"no_such_command a", "no_such_command a", "127"},
                        {"exit 3", "exit", "3"},
                        {"if", "eval \"$dts_value\"", "2"}}) {
    CAPTURE(c.line);
    spec::JobSpec spec;
    spec.setup = {"export A=1", c.line, "export B=1"};
    const auto results = results_of(spec);
    REQUIRE(results.size() >= 5);
    CHECK(results[0] == "failed");
    CHECK(results[1] == std::string("--setup ") + c.line);
    CHECK(results[2] == c.command);
    CHECK(results[4] == c.code);
  }
}

TEST_CASE("staging comes first, and its failure names what was asked for") {
  const tests::TemporaryFolder folder;
  const std::string program = folder.file("program");
  spec::JobSpec spec;
  spec.stage = {"/data/it's", "/b:c"};
  spec.setup = {"[ -z \"${dts_program+x}\" ]; export SEEN=\"$DTSUBMIT_STAGE_DIR\""};
  const std::vector<std::pair<std::string, std::string>> environment{
      {"dts_program", program}, {"DTSUBMIT_RUN_DIR", "/runs/a b"}, {"DTSUBMIT_STAGE_DIR", "/l/d"}};
  REQUIRE(
      write_file(program, "#!/bin/sh\n[ \"$*\" = 'stage --run /runs/a b --folder /l' ]\n", 0700));
  const auto results = results_of(spec, environment);
  CHECK(results.front() == "done");
  CHECK(has(results, "SEEN=/l/d"));
  REQUIRE(write_file(program, "#!/bin/sh\nexit 74\n", 0700));
  const auto failed = results_of(spec, environment);
  REQUIRE(failed.size() >= 5);
  CHECK(failed[1] == "--stage /data/it's /b:c");
  CHECK(tests::contains(failed[2], "stage --run"));
  CHECK(failed[4] == "74");
}

TEST_CASE("a file is read, and the line of it that fails is named") {
  const tests::TemporaryFolder folder;
  spec::JobSpec spec;
  spec.setup = {folder.file("prepare.sh")};
  REQUIRE(write_file(spec.setup[0], "export A=1\n\nfalse\nexport B=1\n"));
  const auto results = results_of(spec);
  REQUIRE(results.size() >= 5);
  CHECK(results[2] == "false");
  CHECK(results[3] == spec.setup[0] + " line 3");
}

TEST_CASE("a function that fails is named by the line that calls it") {
  const tests::TemporaryFolder folder;
  const std::string function = "load() { local status=4; return $status; }\n";
  spec::JobSpec spec;
  spec.setup = {folder.file("prepare.sh")};
  REQUIRE(write_file(spec.setup[0], function + "set -eu\n  load gcc/12\n"));
  const auto in_file = results_of(spec);
  REQUIRE(in_file.size() >= 5);
  CHECK(in_file[2] == "load gcc/12");
  CHECK(in_file[3] == spec.setup[0] + " line 3");
  spec.setup = {"true\ntrue", function + "\n  load gcc/12\ntrue"};
  const auto in_line = results_of(spec);
  REQUIRE(in_line.size() >= 5);
  CHECK(in_line[2] == "load gcc/12");
  CHECK(in_line[4] == "4");
}

TEST_CASE("hostile values reach the fragments as they are") {
  spec::JobSpec spec;
  spec.modules = {"a'; touch /tmp/never; '", "$(exit 9)"};
  spec.setup = {"module() { :; }"};
  const auto site = [](const std::string& name) -> std::optional<std::string> {
    return name == "module" ? std::optional<std::string>("export M=\"${M-}<$dts_value>\"\n")
                            : std::nullopt;
  };
  Command command;
  command.argv = {"bash", "-c", set_up_script(spec, site), "set-up", "1"};
  const auto output = run_process(std::move(command), std::chrono::seconds(20));
  REQUIRE(output);
  CHECK(has(split(output->out, '\0'), "M=<a'; touch /tmp/never; '><$(exit 9)>"));
}

TEST_CASE("a module that is not there fails") {
  spec::JobSpec spec;
  spec.modules = {"no-such-module"};
  const auto results = results_of(spec);
  REQUIRE(results.size() >= 5);
  CHECK(results[1] == "--module no-such-module");
}

TEST_CASE("a module is loaded by the function that the site's initialisation defines") {
  const tests::TemporaryFolder folder;
  REQUIRE(make_folders(folder.file("init")));
  REQUIRE(write_file(folder.file("init/bash"),
                     "false\nmodule() { false; export LOADED=\"${LOADED-}<$1 $2>\"; }\n"
                     "export SEEN=\"${SEEN-}$NOT_SET.\"\n"));
  const std::vector<std::pair<std::string, std::string>> site{{"LMOD_PKG", folder.path},
                                                              {"MODULEPATH", "/modules"}};
  spec::JobSpec spec;
  spec.modules = {"gcc/12", "a b"};
  const auto results = results_of(spec, site);
  CHECK(results.front() == "done");
  CHECK(has(results, "LOADED=<load gcc/12><load a b>"));
  CHECK(has(results, "SEEN=."));  // once

  // Without MODULEPATH, too: the file may set it.
  CHECK(has(results_of(spec, {{"LMOD_PKG", folder.path}}), "LOADED=<load gcc/12><load a b>"));

  // --setup has `module`, too, and a set-up that does not use it leaves none behind.
  spec.modules.clear();
  spec.setup = {"set -u; module load gcc/12; [[ $- == *u* ]]"};
  CHECK(has(results_of(spec, site), "LOADED=<load gcc/12>"));
  REQUIRE(write_file(folder.file("init/bash"), "module() { return 3; }\n"));
  REQUIRE(write_file(folder.file("prepare.sh"), "set -e\nmodule load gcc/12\n"));
  spec.setup = {folder.file("prepare.sh")};
  const auto failed = results_of(spec, site);
  REQUIRE(failed.size() >= 5);
  CHECK(failed[2] == "module load gcc/12");
  CHECK(failed[4] == "3");
  spec.setup = {"set -a"};
  for (const std::string& entry : results_of(spec, site))
    CHECK(entry.find("module%%") == std::string::npos);
}

TEST_CASE(
    "without MODULEPATH a login's own files define module, and nothing else of theirs is read") {
  const tests::TemporaryFolder folder;
  const std::string modules =
      "module() { export LOADED=\"<$2>\"; }\nml() { module load \"$1\"; }\n";
  REQUIRE(write_file(folder.file("00-modulepath.sh"), "export SEEN=path\n"));
  REQUIRE(write_file(folder.file("z00_lmod.sh"), modules));
  REQUIRE(write_file(folder.file("z01_default_modules.sh"), "export SEEN=default\n"));
  REQUIRE(write_file(folder.file("modprobe-alias.sh"), "export SEEN=alias\n"));
  spec::JobSpec spec;
  spec.modules = {"gcc"};
  CHECK(has(results_of(spec, {}, folder.path), "LOADED=<gcc>"));
  CHECK(has(results_of(spec, {}, folder.path), "SEEN=path"));
  spec.modules.clear();
  spec.setup = {"set -eu; ml gcc; [[ $- == *e* && $- == *u* ]]"};
  CHECK(has(results_of(spec, {}, folder.path), "LOADED=<gcc>"));

  REQUIRE(remove_all(folder.file("z00_lmod.sh")));
  REQUIRE(remove_all(folder.file("00-modulepath.sh")));
  spec.setup = {"if ! command -v module; then export OWN=1; fi"};
  CHECK(has(results_of(spec, {}, folder.path), "OWN=1"));
}

TEST_CASE("an environment of conda is activated by conda's own hook") {
  const tests::TemporaryFolder folder;
  REQUIRE(write_file(folder.file("conda"),
                     "#!/bin/sh\n[ \"$*\" = 'shell.bash hook' ] && echo 'conda() { false; "
                     "[ \"$1\" = activate ] && export CONDA_PREFIX=\"/envs/$2\"; }'\n",
                     0755));
  spec::JobSpec spec;
  spec.conda = "my env";
  const auto results =
      results_of(spec, {{"CONDA_EXE", folder.file("conda")}, {"PATH", "/usr/bin:/bin"}});
  CHECK(results.front() == "done");
  CHECK(has(results, "CONDA_PREFIX=/envs/my env"));
  const auto without = results_of(spec, {{"CONDA_EXE", ""}, {"PATH", "/usr/bin:/bin"}});
  REQUIRE(without.size() >= 5);
  CHECK(without[0] == "failed");
  CHECK(without[1] == "--conda my env");
}

TEST_CASE("a virtual environment is that of its folder") {
  const tests::TemporaryFolder folder;
  REQUIRE(make_folders(folder.file("bin")));
  REQUIRE(write_file(folder.file("bin/activate"), "false\nVIRTUAL_ENV=x; export VIRTUAL_ENV\n"));
  spec::JobSpec spec;
  spec.venv = folder.path;
  CHECK(results_of(spec).front() == "failed");  // no Python
  spec.container.image = "/images/a.sif";       // which may have it
  CHECK(results_of(spec).front() == "done");
  spec.container = {};
  REQUIRE(::symlink("/bin/sh", folder.file("bin/python").c_str()) == 0);
  CHECK(has(results_of(spec), "VIRTUAL_ENV=x"));
  spec.venv = folder.file("none");
  const auto failed = results_of(spec);
  REQUIRE(failed.size() >= 5);
  CHECK(failed[1] == "--venv " + spec.venv);
  CHECK(failed[2].empty());  // not our own line
}

TEST_CASE("each line of a tear-down is tried") {
  spec::JobSpec spec;
  spec.teardown = {"echo one; exit 5", "false", "echo 'thr''ee'"};
  Command command;
  command.argv = {"bash", "-c", tear_down_script(spec)};
  const auto output = run_process(std::move(command), std::chrono::seconds(20));
  REQUIRE(output);
  CHECK(output->out == "one\nthree\n");
  CHECK(contains(output->err, "--teardown false exited 1"));
}

}  // namespace dts::script
