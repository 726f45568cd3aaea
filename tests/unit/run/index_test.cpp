// SPDX-License-Identifier: Apache-2.0
// The index of a user's runs: what is added is found, by many writers at once, whatever damage, and
// wherever the home cannot be written the error is one that can be a warning.
#include "core/run/index/index.hpp"

#include "core/run/ledger/ledger.hpp"
#include "tests/support/many_writers.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>

namespace {

using namespace dts;
using namespace dts::run;
using tests::TemporaryFolder;

// A user whose state lies in a folder of the test.
struct Home : TemporaryFolder {
  std::string index = file("state/dtsubmit/runs.jsonl");

  Home() {
    ::setenv("XDG_STATE_HOME", file("state").c_str(), 1);
    ::unsetenv("SLURM_CONF");
  }

  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

  ~Home() {
    ::unsetenv("XDG_STATE_HOME");
    ::unsetenv("SLURM_CONF");
  }

  // A run whose directory is there.
  [[nodiscard]] RunDirectory run(const std::string& name) const {
    const RunDirectory made{file("somewhere/" + name)};
    REQUIRE(make_folders(made.path));
    REQUIRE(append_event(made.ledger(), {.what = Created{}}));
    return made;
  }

  [[nodiscard]] static std::string found(const std::string& what) {
    const auto run = find_in_index(what);
    return run ? run_name(*run) : run.error().code == Errc::not_found ? "none" : "refused";
  }
};

const char* const k_old = "zeta-20260101T000000-aaaaaa";
const char* const k_young = "alpha-20260102T000000-bbbbbb";

}  // namespace

TEST_CASE("a folder and a cluster whose names are not UTF-8 are found again") {
  const Indexed entry{"/d\xe9t/runs/a", JobId(7), "/d\xe9t/slurm.conf"};
  const std::vector<Indexed> back = parse_index(to_line(entry) + "\n");
  REQUIRE(back.size() == 1);
  CHECK(back.front().folder == entry.folder);
  CHECK(back.front().cluster == entry.cluster);
}

TEST_CASE("a run is found by name, by job and as the last one, from nowhere in particular") {
  const Home home;
  REQUIRE(add_to_index({home.run(k_old).path, JobId(41), ""}));
  REQUIRE(add_to_index({home.run(k_young).path, JobId(42), ""}));
  REQUIRE(add_job_to_index(RunDirectory{home.run(k_old).path}, JobId(43)));
  REQUIRE(add_job_to_index(RunDirectory{home.run(k_old).path}, JobId(4'294'967'293U)));
  CHECK(home.found("last") == k_young);  // though the old one got a job since
  CHECK(home.found(k_old) == k_old);
  CHECK(home.found("41") == k_old);
  CHECK(home.found("42") == k_young);
  CHECK(home.found("43") == k_old);
  CHECK(home.found("4294967293") == k_old);
  for (const char* nobody : {"44", "0", "", "alpha", "-1"}) CHECK(home.found(nobody) == "none");
}

TEST_CASE("a job's number means that of the cluster that would be asked") {
  const Home home;
  REQUIRE(add_to_index({home.run(k_old).path, JobId(1), "/a/slurm.conf"}));
  REQUIRE(add_to_index({home.run(k_young).path, JobId(1), "/b/slurm.conf"}));
  CHECK(home.found("1") == "none");
  ::setenv("SLURM_CONF", "/a/slurm.conf", 1);
  CHECK(home.found("1") == k_old);
  ::setenv("SLURM_CONF", "/b/slurm.conf", 1);
  CHECK(home.found("1") == k_young);
  // A successor is of the cluster of the job before, whatever the job's own environment says.
  REQUIRE(add_job_to_index({home.file(std::string("somewhere/") + k_old)}, JobId(2)));
  CHECK(home.found("2") == "none");
  ::setenv("SLURM_CONF", "/a/slurm.conf", 1);
  CHECK(home.found("2") == k_old);
}

TEST_CASE("without a slurm.conf, a cluster is the controller that gives its configuration") {
  const Home home;
  REQUIRE(add_to_index({home.run(k_old).path, JobId(1), "head:6817"}));
  CHECK(home.found("1") == "none");
  ::setenv("SLURM_CONF_SERVER", "head:6817", 1);
  CHECK(home.found("1") == k_old);
  ::unsetenv("SLURM_CONF_SERVER");
}

TEST_CASE("a run whose folder is gone gives way to an older one") {
  const Home home;
  REQUIRE(add_to_index({home.run(k_old).path, JobId(41), ""}));
  const RunDirectory young = home.run(k_young);
  REQUIRE(add_to_index({young.path, JobId(41), ""}));
  REQUIRE(remove_all(young.path));
  CHECK(home.found("last") == k_old);
  CHECK(home.found("41") == k_old);
  CHECK(home.found(k_young) == "none");
}

TEST_CASE("where nothing is in its place any more the index knows what it was") {
  const Home home;
  const RunDirectory old = home.run(k_old);
  REQUIRE(add_to_index({old.path, JobId(41), ""}));
  CHECK_FALSE(gone_from_index("41"));
  REQUIRE(remove_all(old.path));
  for (const std::string& what :
       {std::string("41"), std::string(k_old), old.path, old.path + "/"}) {
    CAPTURE(what);
    const auto gone = gone_from_index(what);
    REQUIRE(gone);
    CHECK(gone->folder == old.path);
    CHECK(gone->job == JobId(41));
  }
  for (const char* other : {"last", "42", "0", "/nowhere", k_young})
    CHECK_FALSE(gone_from_index(other));
}

TEST_CASE("damaged lines, half a last one too, cost nothing but themselves") {
  const Home home;
  REQUIRE(add_to_index({home.run(k_old).path, JobId(41), ""}));
  REQUIRE(write_file(home.index,
                     std::string(100, '\0') + "\n[]\n{\"run\":7}\n{\"run\":\"relative\"}\n" +
                         read_file(home.index).value() + "{\"run\":\"/half"));
  CHECK(home.found("41") == k_old);
  REQUIRE(add_to_index({home.run(k_young).path, JobId(42), ""}));
  CHECK(home.found("42") == k_young);
  CHECK(read_index()->size() == 2);
}

TEST_CASE("an index that another user may have written is neither read nor appended to") {
  const Home home;
  REQUIRE(add_to_index({home.run(k_old).path, JobId(41), ""}));

  struct stat info {};

  REQUIRE(::stat(home.index.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  REQUIRE(::chmod(home.index.c_str(), 0666) == 0);
  CHECK(home.found("41") == "refused");
  CHECK(add_to_index({"/a/b", JobId(1), ""}).error().code == Errc::invalid);
  REQUIRE(::chmod(home.index.c_str(), 0600) == 0);
  REQUIRE(::chmod(home.file(std::string("somewhere/") + k_old).c_str(), 0777) == 0);
  CHECK(home.found("41") == "refused");
}

TEST_CASE("a home that cannot be written, or is not known, is an error and no more") {
  const Home home;
  REQUIRE(write_file(home.file("state"), ""));
  CHECK_FALSE(add_to_index({"/a/b", JobId(1), ""}));
  CHECK(find_in_index("last").error().code == Errc::io);
}

TEST_CASE("many writers at once lose no line, and the oldest go once there are very many") {
  const Home home;
  constexpr unsigned k_writers = 6, k_each = 25;
  dts::tests::write_at_once(k_writers, [](unsigned writer) {
    for (unsigned i = 0; i < k_each; ++i)
      if (!add_to_index({"/runs/x", JobId(writer * k_each + i + 1), ""})) return false;
    return true;
  });
  CHECK(read_index()->size() == std::size_t{k_writers} * k_each);
  std::string many;
  while (many.size() < (1U << 20))
    many += to_line(Indexed{"/runs/" + std::string(100, 'x'), JobId(7), ""}) + "\n";
  REQUIRE(write_file(home.index, many));
  REQUIRE(add_to_index({home.run(k_old).path, JobId(41), ""}));
  CHECK(read_index()->size() == 2000);
  CHECK(home.found("41") == k_old);
}
