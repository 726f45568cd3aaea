// SPDX-License-Identifier: Apache-2.0
// Conditions whose outcome is certain when a script is converted, and those that are the job's.
#include "core/convert/expand/condition.hpp"

#include "core/convert/convert.hpp"
#include "core/convert/expand/test_command.hpp"
#include "core/shell/parse.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace dts;
using namespace dts::convert;

namespace {

Lookup environment_of(std::map<std::string, std::string> all) {
  return [all](const std::string& name) {
    const auto found = all.find(name);
    return found == all.end() ? std::nullopt : std::optional(found->second);
  };
}

// The outcome of the script's last line, after the others.
std::optional<bool> outcome(const std::string& text, std::map<std::string, std::string> all = {}) {
  static const lint::Job job;
  const shell::Script script = shell::parse(text);
  const Resolver resolver(job, environment_of(std::move(all)));
  Known known(script, resolver, {}, true);
  for (std::size_t i = 0; i + 1 < script.statements.size(); ++i) known.follow(script.statements[i]);
  return outcome_of({script.statements.back()}, known);
}

}  // namespace

TEST_CASE("of a case whose word is certain, the body that runs is converted") {
  const std::string body =
      "MODE=fast\ncase $MODE in\n  slow) srun -n 2 slow;;\n  f*|quick)\n    N=4\n    srun -n 4 "
      "prog --n $N\n    "
      ";;\n"
      "  *) exit 1;;\nesac\n";
  const auto job_of_case = [](const std::string& text) {
    return convert_script("#!/bin/bash\n" + text, {"job.sh", {}, {}});
  };
  const Conversion made = job_of_case("#SBATCH -N 2\n" + body + "srun late\n");
  CHECK(made.is_lossless());
  CHECK(made.job_file.find(R"(["prog", "--n", "4"])") != std::string::npos);
  // Only the job knows the word, or the body goes on with the next.
  CHECK_FALSE(job_of_case("#SBATCH -N 2\nMODE=$(cat m)\n" + body.substr(10) + "srun late\n")
                  .job_file.find(R"(["prog", "--n", "4"])") != std::string::npos);
  std::string falls = body;
  falls.replace(falls.rfind("    ;;\n"), 7, "    ;&\n");
  CHECK(job_of_case("#SBATCH -N 2\n" + falls + "srun late\n")
            .job_file.find(R"(["prog", "--n", "4"])") == std::string::npos);
  // No pattern matches: nothing is run.
  const Conversion none = job_of_case("case a in b) srun x;; esac\nsrun prog\n");
  CHECK(none.is_lossless());
  CHECK(none.job_file.find("\"x\"") == std::string::npos);
}

TEST_CASE("conditions that are certain have the outcome that bash gives them") {
  // Each was run by bash 5.2 with A=x set and no B.
  for (const char* yes : {"[ -z $B ]",
                          "[ -n $B ]",
                          "[ ! -n \"$B\" ]",
                          "[[ -z $B ]]",
                          "[ $A = x ]",
                          "[[ $A == x* ]]",
                          "[[ \"$A\" != \"x*\" ]]",
                          "[[ -n $A && ! -n $B ]]",
                          "[[ -z $A || $A == ? ]]",
                          "[ 3 -gt 2 ]",
                          "[[ $B -eq 0 ]]",
                          "true",
                          "(( 3 * 2 == 6 ))",
                          "(( 1 ))",
                          "C=2; (( C <= 2 ))",
                          "[ -n \"$A\" ] && true",
                          "[ \"${B:-x}\" = x ]",
                          "[ \"${A:+y}\" = y ]",
                          "[ -n \"$SLURM_JOB_ID\" ]",
                          "C=; [ -z \"$C\" ]",
                          "C=$A-1; [ $C = x-1 ]",
                          ": ${B:=q}; [ $B = q ]",
                          "[ $SLURM_NNODES -eq 1 ]",
                          "! false",
                          "test x"}) {
    CAPTURE(yes);
    CHECK(outcome(yes, {{"A", "x"}}) == true);
  }
  for (const char* no : {"[ -z \"$A\" ]",
                         "[ -z $A ]",
                         "[[ $A == y* ]]",
                         "[ 2 -ge 3 ]",
                         "false",
                         "[[ $A == \"?\" ]]",
                         "(( 0 ))",
                         "[ \"$A\" != x ]",
                         "unset A; [ -n \"$A\" ]"}) {
    CAPTURE(no);
    CHECK(outcome(no, {{"A", "x"}}) == false);
  }
}

TEST_CASE("what only the job knows has no outcome") {
  for (const char* unknown : {"[ -f x ]",
                              "C=$(date); [ -z \"$C\" ]",
                              "[ $SLURM_LOCALID -eq 0 ]",
                              "[[ $A =~ x ]]",
                              "source ./settings.sh; [ -z \"$B\" ]",
                              "module load cuda; [ -z \"$CUDA_HOME\" ]",
                              "f() { B=1; }; f; [ -z \"$B\" ]",
                              "if [ -f x ]; then A=1; fi; [ $A = 1 ]",
                              "grep -q x y",
                              "[ $RANDOM -gt 5 ]",
                              "read A; [ $A = x ]",
                              "A=1 B=$((A += 1)); [ $A = 1 ]",
                              "A=1 C=$((A += 1)) B=$A; [ $B = 1 ]",
                              "echo ${B:=3}; [ -z \"$B\" ]",
                              "[[ ( -z $A ) ]]",
                              "[ a -a b ]"}) {
    CAPTURE(unknown);
    CHECK_FALSE(outcome(unknown, {{"A", "x"}}).has_value());
  }
  // Modules and environments do not set the script's own variables.
  CHECK(outcome("module load cuda; if [ -f x ]; then :; fi; C=; [ -z \"$C\" ]") == true);
}

TEST_CASE("patterns") {
  CHECK(matches("", ""));
  CHECK(matches("abc", "a*c"));
  CHECK(matches("abcbc", "*bc"));
  CHECK(matches("a*c", "a\\*c"));
  CHECK_FALSE(matches("abc", "a\\*c"));
  CHECK_FALSE(matches("abc", "a?"));
  CHECK_FALSE(matches("", "?"));
}
