// SPDX-License-Identifier: Apache-2.0
// The words that the Tab key offers: `dtsubmit complete`, and the real bash.
#include "tests/cli/session.hpp"
#include "tests/support/source_dir.hpp"

#include <algorithm>

namespace {

using namespace dts;
using namespace dts::tests;

struct Line {
  Words words;     // up to the cursor
  Words offered;   // each of these
  Words withheld;  // none of these
};

Words lines_of(const std::string& text) {
  Words lines;
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    lines.push_back(text.substr(at, end - at));
  return lines;
}

bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

TEST_CASE("commands, options, accepted values and names of runs are completed") {
  const Session session;
  const Line lines[] = {
      {{""}, {"submit", "requeue", "cluster"}, {"--nodes", "complete"}},
      {{"re"}, {"render", "requeue"}, {"run"}},
      {{"--no"}, {"--nodes", "--no-requeue"}, {"--time"}},  // of submit
      {{"run", "--nt"}, {"--ntasks-per-node"}, {"--nodes"}},
      {{"cluster", ""}, {"up", "down", "status"}, {"submit"}},
      {{"cluster", "up", "--gr"}, {"--grace"}, {}},
      {{"--launcher", "m"}, {"mpirun", "mpiexec"}, {"srun"}},
      {{"submit", "--launcher", "=", "s"}, {"srun", "ssh"}, {"mpirun"}},  // as bash breaks words
      {{"--exclusive", "--no"}, {"--nodes"}, {}},                         // its value is optional
      {{"requeue", ""}, {"last"}, {}},
      {{"requeue", "last", "--pa"}, {"--partition"}, {}},
  };
  for (const Line& line : lines) {
    Words words{"complete", "--"};
    words.insert(words.end(), line.words.begin(), line.words.end());
    const Output output = session.dtsubmit(words);
    CAPTURE(output.out);
    CHECK(output.exit_code == 0);
    CHECK(output.err.empty());
    const Words found = lines_of(output.out);
    for (const std::string& word : line.offered) CHECK_MESSAGE(has(found, word), word);
    for (const std::string& word : line.withheld) CHECK_MESSAGE(!has(found, word), word);
  }
}

TEST_CASE("nothing is offered where a file or the user's program follows") {
  const Session session;
  const Words lines[] = {{},
                         {"--nodes", ""},
                         {"--nodes", "2", "--", ""},
                         {"--nodes", "2", "--", "python3", "--no"},
                         {"submit", "jo"},
                         {"lint", ""},
                         {"--exclusive", ""},
                         {"nonsense", ""}};
  for (const Words& line : lines) {
    Words words{"complete", "--"};
    words.insert(words.end(), line.begin(), line.end());
    const Output output = session.dtsubmit(words);
    CHECK(output.exit_code == 0);
    CHECK(output.out.empty());
  }
}

TEST_CASE("bash completes the command line with them") {
  const Session session;
  const std::string script = in_source("cli/completion/dtsubmit.bash");
  const auto completed = [&](const std::string& words, int cursor) {
    return session
        .shell("bash -c '. " + script + "; complete -p dtsubmit; COMP_WORDS=(\"$DTSUBMIT\" " +
               words + "); COMP_CWORD=" + std::to_string(cursor) +
               "; _dtsubmit; printf \"%s\\n\" \"${COMPREPLY[@]}\"'")
        .out;
  };
  CHECK(completed("sta", 1) == "complete -o default -F _dtsubmit dtsubmit\nstatus\n");
  CHECK(contains(completed("--nodes 2 --gpus-per-n train", 3), "\n--gpus-per-node\n"));
}
