// SPDX-License-Identifier: Apache-2.0
// Every rule has a script in tests/data/lint that it finds fault with, at the place said there, and
// a twin of it that is as it should be.
#include "tests/unit/lint/twins.hpp"

#include "core/base/text/text.hpp"
#include "core/lint/lint.hpp"
#include "core/lint/place.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

using namespace dts;
using namespace dts::lint;

namespace {

// No script can show these: one is about the size of a file, one about job files.
const std::set<std::string> k_without_twins{"script-too-large", "job-file"};

std::vector<Finding> findings_of(const Rule& rule, const std::string& text) {
  std::vector<Finding> all = lint_script(text, options_for(rule));
  std::erase_if(all, [&](const Finding& one) { return one.rule->id != std::string_view(rule.id); });
  return all;
}

}  // namespace

TEST_CASE("each rule finds its mistake where it is, and nothing in the twin without it") {
  for (const Rule& rule : rules()) {
    if (k_without_twins.contains(rule.id)) continue;
    CAPTURE(rule.id);
    const std::string bad = script_of(rule, "bad.sh");
    const auto found = findings_of(rule, bad);
    REQUIRE(found.size() == 1);
    const Place place = place_at(bad, found[0].span.begin);
    CHECK(fmt::format("{}:{}", place.line, place.column) == trim(script_of(rule, "place")));
    CHECK(found[0].span.begin <= found[0].span.end);
    CHECK(found[0].span.end <= bad.size());
    CHECK(findings_of(rule, script_of(rule, "good.sh")).empty());
  }
}

TEST_CASE("a rule that can fix does, once, and only such a rule does") {
  for (const Rule& rule : rules()) {
    if (k_without_twins.contains(rule.id)) continue;
    CAPTURE(rule.id);
    const std::string bad = script_of(rule, "bad.sh");
    const std::string fixed = apply_edits(bad, findings_of(rule, bad));
    CHECK((fixed != bad) == rule.can_fix);
    if (!rule.can_fix) continue;
    CHECK(findings_of(rule, fixed).empty());
    // What is mended is still a script.
    for (const Finding& one : lint_script(fixed, options_for(rule)))
      CHECK(one.rule->id != std::string_view("syntax-error"));
  }
}

TEST_CASE(
    "rules have distinct names, are selected by release, and have all texts of the manual page") {
  std::set<std::string> ids;
  for (const Rule& rule : rules()) {
    CAPTURE(rule.id);
    CHECK(ids.insert(rule.id).second);
    CHECK(std::string_view(rule.id).find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") ==
          std::string_view::npos);
    const std::string title = rule.title, reason = rule.reason, fix = rule.fix;
    CHECK_FALSE(title.empty());
    CHECK_FALSE(title.ends_with('.'));
    CHECK(reason.ends_with('.'));
    CHECK_FALSE(fix.empty());
    CHECK(find_rule(rule.id) == &rule);
  }
  CHECK(rules().size() >= 30);
  CHECK(find_rule("no-such-rule") == nullptr);
}

TEST_CASE("a rule holds from one release to another, and without a release unless it needs one") {
  const Rule& cores = *find_rule("srun-loses-cores");
  CHECK_FALSE(holds_for(cores, Release{21, 8}));
  CHECK(holds_for(cores, Release{22, 5}));
  CHECK(holds_for(cores, Release{23, 2}));
  CHECK_FALSE(holds_for(cores, Release{23, 11}));
  CHECK(holds_for(cores, std::nullopt));
  CHECK_FALSE(holds_for(*find_rule("log-folder-missing"), Release{23, 2}));
  CHECK_FALSE(holds_for(*find_rule("first-node-is-not-rank-0"), std::nullopt));
}

TEST_CASE("findings about a script depend on the release of Slurm") {
  // Rules that hold in some releases only, by the text of their own bad script: 22.05, 24.11, 25.11
  // and 26.05.
  constexpr Release k_releases[] = {{22, 5}, {24, 11}, {25, 11}, {26, 5}};
  const std::map<std::string, std::string> holds{{"srun-loses-cores", "1000"},
                                                 {"log-folder-missing", "1000"},
                                                 {"gres-with-gpus-per-node", "0001"},
                                                 {"first-node-is-not-rank-0", "0001"}};
  for (const auto& [id, expected] : holds) {
    const Rule& rule = *find_rule(id);
    std::string found;
    for (const Release release : k_releases) {
      Options options = options_for(rule);
      options.site.slurm = release;
      const auto all = lint_script(script_of(rule, "bad.sh"), options);
      found +=
          std::any_of(all.begin(),
                      all.end(),
                      [&](const Finding& one) { return one.rule->id == std::string_view(rule.id); })
              ? '1'
              : '0';
    }
    CHECK_MESSAGE(found == expected, rule.id);
  }
  for (const Rule& rule : rules()) {
    CAPTURE(rule.id);
    const bool depends = rule.since > Release{22, 5} || rule.until != Release{};
    CHECK((!depends || holds.count(rule.id) > 0));
  }
  // --requeue takes a value from 25.11 on.
  for (const Release release : k_releases) {
    Options options;
    options.site.slurm = release;
    const auto all = lint_script(
        "#!/bin/bash\n#SBATCH --requeue=expedite\n#SBATCH --open-mode=append\nsrun prog\n",
        options);
    CHECK(all.size() == (release < Release{25, 11} ? 1 : 0));
  }
}

TEST_CASE("comments turn rules off: everywhere, on a line, on the next one") {
  const auto count = [](const std::string& script, std::vector<std::string> disabled = {}) {
    Options options;
    options.disabled = std::move(disabled);
    return lint_script(script, options).size();
  };
  const std::string port = "#!/bin/bash\n#SBATCH -N 2\nexport MASTER_PORT=29500\n";
  CHECK(count(port) == 1);
  CHECK(count(port, {"fixed-port"}) == 0);
  CHECK(count(port, {"all"}) == 0);
  CHECK(count(port, {"no-return"}) == 1);
  const std::string head = "#!/bin/bash\n#SBATCH -N 2\n";
  CHECK(count(head + "# dtsubmit: disable=fixed-port\nexport MASTER_PORT=29500\n") == 0);
  CHECK(count(head +
              "# dtsubmit: disable=no-return,fixed-port  a reason\nexport MASTER_PORT=29500\n") ==
        0);
  CHECK(count(head + "# dtsubmit: disable=no-return\nexport MASTER_PORT=29500\n") == 1);
  CHECK(count(head + "cd x\nexport MASTER_PORT=29500  # dtsubmit: disable=fixed-port\n") == 0);
  CHECK(count(head + "cd x\nexport MASTER_PORT=29500  # dtsubmit: disable=all\n") == 0);
  CHECK(count(head + "cd x\n# dtsubmit: disable=fixed-port\nexport MASTER_PORT=29500\n") == 0);
  CHECK(count(head + "cd x  # dtsubmit: disable=fixed-port\nexport MASTER_PORT=29500\n") == 1);
  // Text that only looks like such a comment.
  CHECK(count(head + "cd x\nexport MASTER_PORT=29500; echo '# dtsubmit: disable=fixed-port'\n") ==
        1);
  // An option's own line.
  const std::string tilde =
      "#!/bin/bash\n#SBATCH --chdir=~/x # dtsubmit: disable=directive-tilde\n";
  CHECK(count(tilde) == 0);
}

TEST_CASE("a line is inserted as a line, also behind a last one without an end") {
  const std::string script = "#!/bin/bash\n#SBATCH --requeue";
  CHECK(apply_edits(script, lint_script(script, {})) ==
        "#!/bin/bash\n#SBATCH --requeue\n#SBATCH --open-mode=append\n");
}

TEST_CASE("what is larger than Slurm takes is not read") {
  const std::string large = "#!/bin/bash\n" + std::string(k_largest_script, '(');
  const auto found = lint_script(large, {});
  REQUIRE(found.size() == 1);
  CHECK(found[0].rule->id == std::string_view("script-too-large"));
}

TEST_CASE("a script of another interpreter has options but no commands that can be read") {
  const std::string python = "#!/usr/bin/env python3\n#SBATCH --time=24h\nprint('it\\'s', \"`\")\n";
  const auto found = lint_script(python, {});
  REQUIRE(found.size() == 1);
  CHECK(found[0].rule->id == std::string_view("bad-value"));
}
