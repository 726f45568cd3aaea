// SPDX-License-Identifier: Apache-2.0
// dtsubmit nodes: the list, releasing nodes, and what is refused.
#include "core/base/text/units.hpp"
#include "core/run/index/quarantine_file.hpp"
#include "tests/cli/session.hpp"

#include <nlohmann/json.hpp>

namespace {

using namespace dts;
using namespace dts::tests;

// A session whose user has n1 and n2 of `alpha` and n1 of `beta` in quarantine.
struct Quarantine : Session {
  Quarantine() {
    environment["XDG_STATE_HOME"] = path + "/state";
    add("alpha", "n1", "preflight", "/dev/shm is full");
    add("alpha", "n2", "gpu_error", "a GPU fell off");
    add("alpha", "n3", "hang", "once is not enough");
    add("beta", "n1", "preflight", "read-only\x1b[2J");
  }

  void add(const std::string& cluster,
           const std::string& node,
           const std::string& cause,
           const std::string& detail) const {
    REQUIRE(run::add_strikes(path + "/state/dtsubmit/quarantine/" + cluster + ".jsonl",
                             {{{}, node, cause, "/runs/a", 2, detail}},
                             std::chrono::system_clock::now()));
  }

  // "alpha/n1 alpha/n2"
  [[nodiscard]] std::string listed(const Words& more = {}) const {
    Words words{"nodes", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Output output = dtsubmit(words);
    CHECK(output.exit_code == 0);
    const auto document = nlohmann::json::parse(output.out, nullptr, false);
    REQUIRE(document.is_object());
    CHECK(document["schema"] == "dtsubmit/nodes/1");
    std::string names;
    for (const auto& node : document["quarantine"]) {
      names += (names.empty() ? "" : " ") + node["cluster"].get<std::string>() + "/" +
               node["node"].get<std::string>();
      CHECK(node["run_directory"] == "/runs/a");
      CHECK(parse_utc(node["until"].get<std::string>()).value_or(run::WallTime{}) >
            std::chrono::system_clock::now() + std::chrono::hours(23));
    }
    return names;
  }
};

}  // namespace

TEST_CASE("the nodes in quarantine are listed, with reason and end, of all clusters or one") {
  const Quarantine user;
  CHECK(user.listed() == "alpha/n1 alpha/n2 beta/n1");
  CHECK(user.listed({"--cluster", "beta"}) == "beta/n1");
  const Output table = user.dtsubmit({"nodes"});
  CHECK(table.exit_code == 0);
  for (const char* words : {"alpha", "/dev/shm is full", "gpu_error", "/runs/a attempt 2"})
    CHECK_MESSAGE(table.out.find(words) != std::string::npos, std::string(words));
  CHECK(table.out.find("n3") == std::string::npos);
  CHECK(table.out.find('\x1b') == std::string::npos);
}

TEST_CASE("a node is let out, and only that") {
  const Quarantine user;
  const Output out = user.dtsubmit({"nodes", "--release", "n1", "--cluster", "alpha"});
  CHECK(out.exit_code == 0);
  CHECK(out.out == "released n1 of alpha\n");
  CHECK(user.listed() == "alpha/n2 beta/n1");
  CHECK(user.listed({"--release", "n[1-2]"}).empty());
  const Output none = user.dtsubmit({"nodes"});
  CHECK(none.out == "no node is in quarantine\n");
  user.add("alpha", "n1", "preflight", "again");
  CHECK(user.listed() == "alpha/n1");
}

TEST_CASE("what cannot be let out or read is refused by name") {
  const Quarantine user;
  const Output absent = user.dtsubmit({"nodes", "--release", "n1,n9"});
  CHECK(absent.exit_code == 6);
  CHECK(absent.err.find("n9 is not in quarantine") != std::string::npos);
  CHECK(user.listed() == "alpha/n1 alpha/n2 beta/n1");
  CHECK(user.dtsubmit({"nodes", "--release", "n["}).exit_code == 3);
  CHECK(user.dtsubmit({"nodes", "--cluster", "../../x"}).exit_code == 3);
}

TEST_CASE("damaged lines of a quarantine are named, and the others count") {
  const Quarantine session;
  const std::string file = session.path + "/state/dtsubmit/quarantine/alpha.jsonl";
  const std::string text = read_file(file).value();
  REQUIRE(write_file(file, "{\"time\":5}\n" + text, 0600));
  const Output nodes = session.dtsubmit({"nodes"});
  CHECK(nodes.exit_code == 0);
  CHECK(contains(nodes.err, "alpha.jsonl: line 1 is damaged and skipped"));
  CHECK(contains(nodes.out, "n2"));
}
