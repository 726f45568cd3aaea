// SPDX-License-Identifier: Apache-2.0
// Batch scripts in here-documents, and lines of shell in job files.
#include "core/base/text/text.hpp"
#include "core/lint/lint.hpp"
#include "core/lint/place.hpp"
#include "tests/unit/lint/twins.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

using namespace dts;
using namespace dts::lint;

namespace {

// "LINE:COLUMN" of what the rule finds.
std::vector<std::string> places(const std::string& id, const std::string& text) {
  std::vector<std::string> all;
  for (const Finding& one : lint_script(text, options_for(*find_rule(id)))) {
    const Place place = place_at(text, one.span.begin);
    if (one.rule->id == id) all.push_back(fmt::format("{}:{}", place.line, place.column));
  }
  return all;
}

using Places = std::vector<std::string>;

}  // namespace

TEST_CASE("each rule finds its mistake in a here-document, at its place in the file") {
  const std::set<std::string> outside{"script-too-large", "job-file"};  // without twins
  for (const Rule& rule : rules()) {
    if (outside.contains(rule.id)) continue;
    CAPTURE(rule.id);
    const std::string bad = script_of(rule, "bad.sh"), good = script_of(rule, "good.sh");
    const auto in_document = [](const std::string& script) {
      return "sbatch <<'END OF JOB'\n" + script + (script.ends_with('\n') ? "" : "\n") +
             "END OF JOB\n";
    };
    const auto parts = split(trim(script_of(rule, "place")), ':');
    const auto line = parse_number(parts[0]);
    REQUIRE(line);
    CHECK(places(rule.id, in_document(bad)) == Places{fmt::format("{}:{}", *line + 1, parts[1])});
    CHECK(places(rule.id, in_document(good)).empty());
  }
}

TEST_CASE("what the outer shell expands is not known, and what it leaves is read") {
  const std::string head = "N=4\nsbatch <<EOF\n#!/bin/bash\n#SBATCH --nodes=$N --requeue\n";
  CHECK(places("directive-variable", head + "hostname\nEOF\n").empty());
  CHECK(places("bad-value", head + "hostname\nEOF\n").empty());
  CHECK(
      places("fixed-port", head + "export MASTER_PORT=$PORT\nsrun python train.py\nEOF\n").empty());
  CHECK(places("fixed-port", head + "export MASTER_PORT=29500\nsrun python train.py\nEOF\n") ==
        Places{"5:8"});
  CHECK(places("rank-of-batch-shell",
               head + "torchrun --nnodes=4 --node_rank=\\$SLURM_NODEID train.py\nEOF\n")
            .size() ==
        places("rank-of-batch-shell",
               "#!/bin/bash\n#SBATCH --nodes=4\ntorchrun --nnodes=4 --node_rank=$SLURM_NODEID "
               "train.py\n")
            .size());
  // Any options may stand there.
  CHECK(lint_script("sbatch <<EOF\n#!/bin/bash\n#SBATCH $OPTIONS\nsrun python train.py\nEOF\n", {})
            .empty());
  CHECK(lint_script("sbatch <<EOF\n#!/bin/bash\n$LINES\n#SBATCH -N 2\nsrun python train.py\nEOF\n",
                    {})
            .empty());
}

TEST_CASE("tabs in front of lines are left out, and places are those of the file") {
  CHECK(places("fixed-port",
               "if true; then\n\tsbatch <<-EOF\n\t\t#!/bin/bash\n\t\t#SBATCH --nodes=2\n"
               "\t\texport MASTER_PORT=29500\n\tEOF\nfi\n") == Places{"5:10"});
}

TEST_CASE("a script that is written to a file, or piped, is one; other text is none") {
  const std::string script = "#!/bin/bash\n#SBATCH --nodes=2\nexport MASTER_PORT=29500\n";
  CHECK(places("fixed-port", "cat > job.sh <<EOF\n" + script + "EOF\n") == Places{"4:8"});
  CHECK(places("fixed-port", "cat <<EOF > job.sh\n" + script + "EOF\n") == Places{"4:8"});
  CHECK(places("fixed-port", "tee job.sh <<EOF > /dev/null\n" + script + "EOF\n") == Places{"4:8"});
  CHECK(places("fixed-port", "cat <<EOF | sbatch\n" + script + "EOF\n") == Places{"4:8"});
  CHECK(places("fixed-port", "python3 - <<EOF\n" + script + "EOF\n").empty());
  CHECK(places("fixed-port", "cat > a.sh <<EOF\n#!/bin/bash\nexport MASTER_PORT=29500\nEOF\n")
            .empty());
  CHECK(places("fixed-port", "sbatch other.sh <<EOF\n" + script + "EOF\n").empty());
  CHECK(places("fixed-port", "sbatch <<EOF\nEOF\n").empty());
}

TEST_CASE("options of sbatch's command line count") {
  const std::string script =
      "#!/bin/bash\n#SBATCH --nodes=2 --time=24:00:00\nsrun python train.py\n";
  const auto returns = [&](const std::string& before, const std::string& behind = "") {
    return places("no-return", before + " <<'EOF'\n" + script + "EOF\n" + behind).empty();
  };
  CHECK_FALSE(returns("sbatch"));
  CHECK(returns("sbatch --requeue"));
  CHECK(returns("sbatch -p gpu --requeue"));
  CHECK_FALSE(returns("cat > job.sh"));
  CHECK(returns("cat > job.sh", "sbatch --requeue job.sh\n"));
  CHECK_FALSE(returns("cat > job.sh", "sbatch --requeue other.sh\n"));
  // What was found fault with is overridden.
  CHECK(places("duplicate-option", "sbatch --nodes=4 <<'EOF'\n" + script + "EOF\n").empty());
}

TEST_CASE("comments turn rules off there, too, and a safe fix is made in the file") {
  const std::string script = "#!/bin/bash\n#SBATCH --nodes=2 --requeue\nexport MASTER_PORT=29500\n";
  CHECK(
      places("fixed-port", "sbatch <<'EOF'\n" + script + "# dtsubmit: disable=all\nEOF\n").size() ==
      1);
  CHECK(places("fixed-port",
               "sbatch <<'EOF'\n#!/bin/bash\n# dtsubmit: disable=fixed-port\n#SBATCH --nodes=2\n"
               "export MASTER_PORT=29500\nEOF\n")
            .empty());
  CHECK(places("fixed-port", "# dtsubmit: disable=fixed-port\nsbatch <<'EOF'\n" + script + "EOF\n")
            .empty());
  const std::string literal = "sbatch <<'EOF'\n" + script + "EOF\n";
  const std::string fixed = apply_edits(literal, lint_script(literal, {}));
  CHECK(fixed.find("MASTER_PORT=$((20000 + SLURM_JOB_ID % 12000))") != std::string::npos);
  CHECK(fixed.starts_with("sbatch <<'EOF'\n#!/bin/bash\n"));
  CHECK(fixed.ends_with("EOF\n"));
  // The outer shell would expand the fix.
  const std::string expanded =
      "sbatch <<EOF\n" + script.substr(0, script.size() - 1) + " $X\nEOF\n";
  for (const Finding& one : lint_script(expanded, {}))
    if (one.span.begin > 0) CHECK(one.edits.empty());
}

TEST_CASE("rules that read lines of shell find the same in those of a job file") {
  for (const Rule& rule : rules()) {
    if (!rule.reads_lines) continue;
    CAPTURE(rule.id);
    const auto found = [&](const std::string& text) {
      std::size_t number = 0;
      for (const Finding& one : lint_lines(text, options_for(rule))) {
        number += one.rule == &rule ? 1 : 0;
        CHECK(one.rule->reads_lines);
        CHECK(one.edits.empty());
        CHECK(one.span.end <= text.size());
      }
      return number;
    };
    CHECK(found(script_of(rule, "bad.sh")) == 1);
    CHECK(found(script_of(rule, "good.sh")) == 0);
  }
}
