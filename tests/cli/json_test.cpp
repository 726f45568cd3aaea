// SPDX-License-Identifier: Apache-2.0
// Every name in a JSON document is explained in the manual page of the command that prints it.
#include "core/base/files/files.hpp"
#include "tests/cli/session.hpp"
#include "tests/support/source_dir.hpp"

#include <nlohmann/json.hpp>

#include <set>

namespace {

using namespace dts;
using namespace dts::tests;

struct Document {
  Words words;
  std::set<std::string> skipped;  // members described elsewhere, or whose names are data
};

void add_names(const nlohmann::json& value,
               const std::set<std::string>& skipped,
               std::set<std::string>& names) {
  if (value.is_array())
    for (const auto& one : value) add_names(one, skipped, names);
  if (!value.is_object()) return;
  for (const auto& [name, member] : value.items()) {
    names.insert(name);
    if (!skipped.contains(name)) add_names(member, skipped, names);
  }
}

std::set<std::string> words_of_page(const std::string& verb) {
  const auto page = read_file(in_source("man/dtsubmit-" + verb + ".1"));
  REQUIRE(page);
  std::set<std::string> words;
  std::string word;
  for (const char letter : *page + " ")
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_')
      word += letter;
    else
      words.insert(std::exchange(word, ""));
  return words;
}

}  // namespace

TEST_CASE("the manual pages explain every member of the JSON documents") {
  Session session;
  session.environment["SLURM_CONF"] = "/nonexistent/slurm.conf";
  REQUIRE(write_file(session.file("job.sh"), "#!/bin/bash\n#SBATCH -N 2\necho hello\n"));
  if (Session::has_mpirun()) {
    (void)session.dtsubmit({"run", "--", "/bin/true"});
    (void)session.dtsubmit({"run", "--", "/bin/false"});
  }
  for (const Document& document : std::vector<Document>{
           {{"submit", "--dry-run", "--json", "--array", "0-1", "--", "/bin/true"},
            {"plan", "sweep"}},
           {{"status", "--json"}, {}},
           {{"stop", "--json", "last"}, {}},
           {{"cancel", "--json", "last"}, {}},
           {{"why", "--json"}, {}},
           {{"list", "--json"}, {}},
           {{"nodes", "--json"}, {}},
           {{"topo", "--json", "--ranks", "2"}, {"score", "bound", "policies"}},
           {{"simulate", "--json", "--days", "2", "--nodes", "4", "--compare", "spares=1"}, {}},
           {{"plan", "--json", "--time", "4h", "--what-if", "nodes=1,2", "--", "/bin/true"},
            {"plan"}},
           {{"check", "--here", "--quick", "--json"}, {"facts"}},
           {{"lint", "--json", "job.sh"}, {}},
           {{"convert", "--json", "job.sh"}, {}},
       }) {
    CAPTURE(document.words.front());
    const Output output = session.dtsubmit(document.words);
    const auto json = nlohmann::json::parse(output.out, nullptr, false);
    if (output.exit_code == 6) continue;  // no mpirun, and therefore no run
    REQUIRE_FALSE(json.is_discarded());
    std::set<std::string> names;
    add_names(json, document.skipped, names);
    const auto words = words_of_page(document.words.front());
    for (const std::string& name : names) CHECK_MESSAGE(words.contains(name), name);
  }
}
