// SPDX-License-Identifier: Apache-2.0
// What a script's control flow is certain to do, written out before it is converted, and its
// blanks.
#include "core/convert/convert.hpp"
#include "core/convert/expand/blanks.hpp"
#include "core/convert/expand/rewrite.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

using namespace dts;
using namespace dts::convert;

namespace {

Lookup variables(std::map<std::string, std::string> all) {
  return [all](const std::string& name) {
    const auto found = all.find(name);
    return found == all.end() ? std::nullopt : std::optional(found->second);
  };
}

Conversion converted(const std::string& body, std::map<std::string, std::string> all = {}) {
  return convert_script("#!/bin/bash\n" + body, {"job.sh", {}, variables(std::move(all))});
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

// The row of the first byte of `line`.
Row row_at(const Conversion& made, const std::string& body, const std::string& line) {
  const std::size_t at = body.find(line) + std::string("#!/bin/bash\n").size();
  for (const Row& row : made.rows)
    for (const Span& span : row.spans)
      if (span.begin <= at && at < span.end) return row;
  FAIL(line << " is in no row");
  return {};
}

}  // namespace

TEST_CASE("of an if whose outcome is certain, the branch that runs is converted") {
  const std::string body =
      "if [ ! -z $IMAGE ]; then\n  ARGS=(--container-image $IMAGE)\nelse\n  MODE=plain\nfi\n"
      "srun \"${ARGS[@]}\" prog --mode $MODE\n";
  const Conversion without = converted(body);
  CHECK(without.is_lossless());
  CHECK(contains(without.job_file, R"(["prog", "--mode", "plain"])"));
  const Row row = row_at(without, body, "ARGS=(");
  CHECK(row.became == Became::unnecessary);
  CHECK(row.why == "not run: IMAGE is not set");
  CHECK(contains(row_at(without, body, "if [").why, "decided when the script is converted"));
  const Conversion with = converted(body, {{"IMAGE", "/images/a.sqsh"}});
  CHECK(with.is_lossless());
  CHECK(contains(with.job_file, "container = [\"/images/a.sqsh\"]"));
  // Nothing would be lost: the job's shell decides.
  const Conversion left =
      converted("if [ -z \"$A\" ]; then export B=1; fi\nsrun prog\n", {{"A", "1"}});
  CHECK(contains(left.job_file, "if [ -z \"$A\" ]; then export B=1; fi"));
}

TEST_CASE("a branch that ends the script stays with the job's shell") {
  const std::string body =
      "if [ -z \"$USER_FSW\" ]; then echo set it; exit 1; fi\n"
      "srun --container-image=/a.sqsh --container-mounts=$USER_FSW:/w prog\n";
  const Conversion made = converted(body);
  CHECK(contains(made.job_file, "if [ -z \"$USER_FSW\" ]; then echo set it; exit 1; fi"));
}

TEST_CASE("turns of a loop that starts programs are steps") {
  const std::string body =
      "#SBATCH --nodes=2 --ntasks-per-node=2\n"
      "for LR in 0.1 0.2; do\n  for I in $(seq 1 2); do\n    NAME=run-$LR-$I\n"
      "    if [ $I = 2 ]; then NAME+=-big; fi\n    srun prog --name $NAME\n  done\ndone\n";
  const Conversion made = converted(body);
  CHECK(made.is_lossless());
  CHECK(count(made.job_file, "[[steps]]") == 4);
  for (const char* name : {"run-0.1-1\"", "run-0.1-2-big\"", "run-0.2-1\"", "run-0.2-2-big\""})
    CHECK(contains(made.job_file, name));
  CHECK(row_at(made, body, "srun").became == Became::program);
  CHECK(row_at(made, body, "for LR").why == "its 2 iterations are written out");
  for (const char* values : {"{1..3}", "1 2 3", "$(seq 3)"})
    CHECK(
        count(converted("#SBATCH -N 2\nfor i in " + std::string(values) + "; do srun p $i; done\n")
                  .job_file,
              "[[steps]]") == 3);
  const std::string counted = "for ((i = 0; i < 3; i++)); do srun p $i; done\n";
  CHECK(count(converted("#SBATCH -N 2\n" + counted).job_file, "[[steps]]") == 3);
  // One rank can run the loop itself.
  CHECK(count(converted(counted).job_file, "[[steps]]") == 0);
  // Its turns depend on the job, are not all alike, or run side by side.
  for (const char* loop : {"for i in *; do srun p $i; done\n",
                           "for i in 1 2; do srun p $i || break; done\n",
                           "for i in 1 2; do srun p $i & done\n"})
    CHECK_FALSE(contains(converted(loop).job_file, "[[steps]]"));
}

TEST_CASE("a loop that is kept takes no programs from the loops behind it") {
  const std::string kept = "#SBATCH -N 2\nfor i in {1..250}; do srun p $i || break; done\n";
  CHECK(contains(converted(kept + "for i in {1..60}; do srun q $i; done\n").job_file,
                 "\"q\", \"60\""));
}

TEST_CASE("functions that call each other in a long chain are followed to its end") {
  constexpr int k_functions = 1000;
  std::string body;
  for (int i = 0; i < k_functions; ++i)
    body += "f" + std::to_string(i) + "() { f" + std::to_string(i + 1) + "; }\n";
  body += "f" + std::to_string(k_functions) + "() { ./evaluate; }\npython a.py\nf0\n";
  const Row row = row_at(converted(body), body, "f0\n");
  CHECK(contains(row.why, "bytes long"));  // it is a program, and has all functions
}

TEST_CASE("functions that print a command and run it are the command") {
  const std::string body = "run() {\n  echo \"$@\"\n  time \"$@\"\n}\nrun srun prog 'a b'\n";
  const Conversion made = converted(body);
  CHECK(made.is_lossless());
  CHECK(contains(made.job_file, R"(["prog", "a b"])"));
  CHECK(contains(made.job_file, "launcher = \"srun\""));
  // $@ without quotes splits the argument again.
  const Conversion splits = converted("run() { $@; }\nrun srun prog 'a b'\n");
  CHECK_FALSE(splits.is_lossless());
}

TEST_CASE("a blank of the script is to be filled in") {
  const std::string body =
      "#SBATCH --account=<account>\n#SBATCH --nodes={{ nodes }}\n#SBATCH --array=0-N\n"
      "export CACHE=<cache folder>\nsrun --container-image=<image> prog\n";
  const Conversion made = converted(body);
  CHECK(made.is_lossless());
  CHECK(contains(made.job_file, "account = \"<account>\"\n"));
  CHECK(contains(made.job_file, "# nodes = \"{{ nodes }}\"\n"));
  CHECK(contains(made.job_file, "# array = \"0-N\"\n"));
  CHECK(contains(made.job_file, "# container = [\"<image>\"]\n"));
  CHECK(contains(made.job_file, "export CACHE='<cache folder>'"));
  for (const char* line : {"--account", "--nodes", "--array", "srun"}) {
    CAPTURE(line);
    const Row row = row_at(made, body, line);
    CHECK(row.became == Became::fill_in);
    CHECK_FALSE(row.why.empty());
  }
  // So is what the script takes from the shell that submits it, and what that shell lacks.
  const Conversion image = converted("srun --container-image=$IMAGE prog\n");
  CHECK(image.is_lossless());
  CHECK(contains(image.job_file, "# container = [\"$IMAGE\"]"));
  CHECK(image.needs == std::vector<std::string>{"IMAGE"});
  // But not what the script computes.
  CHECK_FALSE(converted("I=$(ls *.sqsh)\nsrun --container-image=$I prog\n").is_lossless());
  // It stays one word where it is used.
  CHECK(contains(converted("C=<cache folder>\nsrun prog $C -x\n").job_file,
                 R"(["prog", "<cache folder>", "-x"])"));
  // Redirections are none.
  CHECK(with_plain_words("prog <in >out\nprog < a > b\n").is_same());
  CHECK(with_plain_words("A=<b c>\n").text() == "A='<b c>'\n");
}

TEST_CASE("values of mounts and images are found through defaults and folders") {
  const std::map<std::string, std::string> here{{"PWD", "/home/u/project/run"}};
  CHECK(contains(converted("P=$(cd ../; pwd)\nI=${I:-\"a/b:1\"}\nsrun --container-image=$I "
                           "--container-mounts=$P:/p prog\n",
                           here)
                     .job_file,
                 "mount = [\"/home/u/project:/p\"]"));
  CHECK(contains(
      converted(": \"${I:=$(pwd)/i.sqsh}\"\nA=(--container-image $I)\nsrun \"${A[@]}\" p\n", here)
          .job_file,
      "container = [\"/home/u/project/run/i.sqsh\"]"));
  // The script's own value is not the environment's.
  CHECK_FALSE(converted("I=$(cat image)\nsrun --container-image=${I:-x} prog\n", {{"I", "/e.sqsh"}})
                  .is_lossless());
}

TEST_CASE("programs without a launcher beside launched ones run on the first node") {
  const Conversion made =
      converted("#SBATCH -N 2 --ntasks-per-node=4\npython prepare.py\nsrun python train.py\n");
  CHECK(made.is_lossless());
  CHECK(contains(made.job_file, "nodes = \"1\""));
  CHECK_FALSE(converted("#SBATCH -N 2\npython train.py\n").is_lossless());
}

TEST_CASE("a text that the job's shell makes stays a text") {
  const Conversion made =
      converted("read -r -d '' cmd <<EOF\ncd /w && prog\nEOF\nsrun -n 2 bash -c \"${cmd}\"\n");
  CHECK(made.is_lossless());
  CHECK(contains(made.job_file, "exec bash -c \\\"${cmd}\\\""));
}

TEST_CASE("what a statement with a program sets is not known behind it") {
  const Conversion made = converted("N=a\nif [ -f x ]; then N=b; srun one; fi\nsrun two $N\n");
  CHECK(contains(made.job_file, "exec two $N"));
}

TEST_CASE("the batch shell's own host does not get into every node's rendezvous") {
  const std::string job = converted(
                              "#SBATCH -N 2 --gres=gpu:8\nA=(--nproc_per_node=8 "
                              "--rdzv_endpoint=$(hostname):29500 --rdzv_id=1)\n"
                              "srun torchrun \"${A[@]}\" t.py\n")
                              .job_file;
  CHECK(contains(job, R"(command = ["torchrun", "t.py"])"));
}

TEST_CASE("programs side by side are no steps") {
  CHECK_FALSE(converted("#SBATCH -N 2\nsrun server &\nsrun client\n").is_lossless());
  CHECK_FALSE(converted("#SBATCH -n 2\nsrun server &\nsrun client\n").is_lossless());
  CHECK(converted("srun one &\nwait\nsrun two &\nwait $!\n").is_lossless());
  // What the set-up starts in the background stays there.
  CHECK(contains(converted("monitor > log &\nsrun prog\n").job_file, "monitor > log &\n"));
}

TEST_CASE("lines that act on the exit code of a program on several nodes are lost") {
  const std::string body =
      "#SBATCH -N 2\nsrun prog\ncode=$?\nif [ $code -eq 0 ]; then\n  touch done\nfi\nexit $code\n";
  const Conversion made = converted(body);
  CHECK(row_at(made, body, "if [").became == Became::lost);
  CHECK(row_at(made, body, "exit").became == Became::unnecessary);
}

TEST_CASE("cores for each GPU of a job without any are none") {
  const std::string body = "#SBATCH --cpus-per-gpu=6\nsrun prog\n";
  CHECK(row_at(converted(body), body, "--cpus-per-gpu").became == Became::unnecessary);
  const Conversion made = converted("#SBATCH --cpus-per-gpu=6\n#SBATCH --gres=gpu:2\nsrun prog\n");
  CHECK(contains(made.job_file, "cpus_per_gpu = 6"));
}

TEST_CASE("pyxis' containers get the variables of the set-up") {
  CHECK(contains(
      converted("export A=1\nB=$(date)\nsrun --container-image=/i.sqsh prog $B\n").job_file,
      "container_env = [\"A\", \"B\"]"));
}

TEST_CASE("a rewritten script knows where its bytes come from") {
  const std::string text = "abcdef";
  Rewrite made(text);
  made.keep({0, 2});
  made.insert("--");
  made.keep({4, 6});
  made.keep({0, 2});
  CHECK(made.text() == "ab--efab");
  const auto spans = made.origin_of({1, 8});
  REQUIRE(spans.size() == 2);
  CHECK(spans[0].begin == 0);
  CHECK(spans[0].end == 2);
  CHECK(spans[1].begin == 4);
  const auto rows =
      made.rows_of({{{{0, 2}}, Became::set_up, "", ""}, {{{6, 8}}, Became::lost, "", "w"}},
                   {{{{2, 4}}, Became::unnecessary, "", "not run"}});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].became == Became::lost);
  CHECK(rows[1].spans[0].begin == 2);
}
