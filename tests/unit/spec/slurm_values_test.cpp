// SPDX-License-Identifier: Apache-2.0
// Options that only the scheduler reads: checked and normalised.
#include "core/spec/exports.hpp"
#include "core/spec/json.hpp"
#include "core/spec/option.hpp"
#include "core/spec/validate.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <map>
#include <string>
#include <vector>

namespace dts::spec {
namespace {

Result<void> typed(const std::string& name, const std::string& text, JobSpec& spec) {
  for (const Option& row : options())
    if (row.long_name() == name) return row.value.parse(text, spec);
  return fail(Errc::not_found, name);
}

}  // namespace

TEST_CASE("input is converted to sbatch's form") {
  struct Case {
    std::string name, text, stored;
  };

  const std::vector<Case> cases{
      {"mem-per-gpu", "32gb", "32768M"},
      {"mem-per-cpu", "2GiB", "2048M"},
      {"tmp", "1T", "1048576M"},
      {"time-min", "90", "01:30:00"},
      {"mail-type", "end,Fail,time_limit_80", "END,FAIL,TIME_LIMIT_80"},
      {"hint", "NoMultithread", "nomultithread"},
      {"exclusive", "yes", ""},
      {"exclusive", "user", "user"},
      {"nice", "yes", ""},
      {"nice", "-5", "-5"},
      {"nodelist", "n[1-4],m7", "n[1-4],m7"},
      {"dependency", "afterok:12:13,singleton", "afterok:12:13,singleton"},
      {"dependency", "afterany:5?afternotok:6", "afterany:5?afternotok:6"},
      {"begin", "now+1hour", "now+1hour"},
      {"constraint", "[rack1|rack2]&nvlink", "[rack1|rack2]&nvlink"},
      {"hold", "", ""},
      {"export", "none", "none"},
      {"export", "ALL,A=1,B='x,y'", "ALL,A=1,B='x,y'"},
      {"export", "HOME,_a1", "HOME,_a1"},
  };
  for (const Case& row : cases) {
    const auto& [name, text, stored] = row;
    CAPTURE(row.name);
    CAPTURE(row.text);
    JobSpec spec;
    REQUIRE(typed("--" + name, text, spec));
    CHECK(spec.slurm == std::map<std::string, std::string>{{name, stored}});
    const auto back = from_json(to_json(spec), "spec.json");
    REQUIRE_MESSAGE(back, back.error().message);
    CHECK(back->slurm == spec.slurm);
  }
}

TEST_CASE("values that sbatch would refuse, or interpret differently, are refused") {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"--mem-per-gpu", "much"},
      {"--mail-type", "END,SOMETIMES"},
      {"--hint", "fast"},
      {"--exclusive", "no"},
      {"--nice", "1.5"},
      {"--nodelist", "n[1-"},
      {"--dependency", "12"},
      {"--dependency", "afterok:"},
      {"--dependency", "afterok:a"},
      {"--dependency", "singleton:3"},
      {"--dependency", "after:1,after:2?after:3"},
      {"--begin", "`date`"},
      {"--mincpus", "0"},
      {"--open-mode", "truncate"},
      {"--output", "log-%N.out"},
      {"--output", "log-%"},
      {"--signal", "KILL@60"},
      {"--signal", "USR1@soon"},
      {"--export", ""},
      {"--export", "HOME,NONE"},
      {"--export", "1A=2"},
      {"--export", "A='x"},
      {"--ntasks-per-gpu", "0"},
      {"--slurm", "Power=1"},
      {"--slurm", "nodes=4"},
      {"--slurm", "wrap=hostname"},
      {"--slurm", "array=1-3"},
      {"--slurm", "wait"},
      {"--slurm", ""},
      {"--stop-signal", "STOP"},
      {"--stop-signal", "0"},
  };
  for (const auto& row : wrong) {
    const auto& [name, text] = row;
    CAPTURE(row.first);
    CAPTURE(row.second);
    JobSpec spec;
    CHECK_FALSE(typed(name, text, spec));
    CHECK(to_json(spec) == to_json(JobSpec{}));
  }
}

TEST_CASE("--export says which variables of the submitting shell a job gets") {
  const auto gets = [](const char* list) {
    const auto exports = parse_exports(list);
    REQUIRE(exports);
    return passes_on(*exports, "A");
  };
  for (const char* list : {"ALL", "all,B=1", "A", "B,A", "AB=1,A"}) {
    CAPTURE(list);
    CHECK(gets(list));
  }
  for (const char* list : {"NONE", "nil", "B", "A=1", "ALL,A=1", "A,A=1"}) {
    CAPTURE(list);
    CHECK_FALSE(gets(list));
  }
}

TEST_CASE("a site's own options are kept by name, and come back from spec.json") {
  JobSpec spec;
  REQUIRE(typed("--slurm", "my-spank=a=b", spec));
  REQUIRE(typed("--slurm", "my-flag", spec));
  JobSpec of_plugins;  // options that users know from srun, see instead_of_srun()
  for (const char* key : {"container-image=i", "image=i", "uenv=u", "environment=e"})
    CHECK(typed("--slurm", key, of_plugins));
  CHECK(spec.slurm_site ==
        std::map<std::string, std::string>{{"my-flag", ""}, {"my-spank", "a=b"}});
  const auto back = from_json(to_json(spec), "spec.json");
  REQUIRE(back);
  CHECK(back->slurm_site == spec.slurm_site);
}

TEST_CASE("--signal is the stop signal and its margin, whichever processes it names") {
  for (const std::string text : {"B:USR1@90", "USR1@90", "R:10@90", "SIGUSR1@90"}) {
    JobSpec spec;
    REQUIRE(typed("--signal", text, spec));
    CHECK(spec.stop_signal == SIGUSR1);
    CHECK(spec.signal_margin == std::chrono::seconds(90));
  }
}

TEST_CASE("any signal that a program can catch may stop it") {
  for (const auto& [text, number] : std::map<std::string, int>{
           {"HUP", SIGHUP}, {"sigint", SIGINT}, {"12", SIGUSR2}, {"QUIT", SIGQUIT}}) {
    JobSpec spec;
    REQUIRE(typed("--stop-signal", text, spec));
    CHECK(spec.stop_signal == number);
    CHECK(validate(spec).empty());
  }
}

TEST_CASE("mutually exclusive amounts of memory are refused together") {
  JobSpec spec;
  REQUIRE(typed("--mem", "1G", spec));
  REQUIRE(typed("--mem-per-gpu", "1G", spec));
  REQUIRE(validate(spec).size() == 1);
  CHECK(validate(spec).front().message == "--mem, --mem-per-gpu exclude each other");
}

}  // namespace dts::spec
