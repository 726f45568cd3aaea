// SPDX-License-Identifier: Apache-2.0
// A run directory that is removed, moved or replaced is noticed at the second look.
#include "core/run/directory/presence.hpp"

#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <cstdio>

namespace {

using namespace dts;
using namespace dts::run;
using tests::TemporaryFolder;

struct Run : TemporaryFolder {
  RunDirectory run{file("a-run")};

  Run() {
    REQUIRE(make_folders(run.path));
    REQUIRE(write_file(run.ledger(), ""));
  }
};

void check_vanishes(Presence& presence) {
  CHECK(presence.look());  // once may be a hiccup
  CHECK_FALSE(presence.look());
  CHECK_FALSE(presence.look());
}

}  // namespace

TEST_CASE("a run directory that stays is there, whatever is written in it") {
  const Run folder;
  Presence presence(folder.run);
  for (int i = 0; i < 3; ++i) {
    CHECK(presence.look());
    REQUIRE(write_file(folder.run.ledger(), "changed"));
  }
}

TEST_CASE("one that is removed, moved, replaced or emptied has vanished") {
  for (const std::string what : {"removed", "moved", "replaced", "emptied", "a file"}) {
    CAPTURE(what);
    const Run folder;
    const std::string path = folder.run.path, aside = folder.file("aside");
    Presence presence(folder.run);
    CHECK(presence.look());
    if (what == "emptied") {
      REQUIRE(remove_all(folder.run.ledger()));
    } else if (what == "removed") {
      REQUIRE(remove_all(path));
    } else {
      REQUIRE(std::rename(path.c_str(), aside.c_str()) == 0);
    }
    if (what == "replaced") {
      REQUIRE(make_folders(path));
      REQUIRE(write_file(folder.run.ledger(), ""));
    }
    if (what == "a file") REQUIRE(write_file(path, ""));
    check_vanishes(presence);
  }
}

TEST_CASE("one that is away for one look only is there") {
  const Run folder;
  const std::string aside = folder.file("aside");
  Presence presence(folder.run);
  CHECK(presence.look());
  REQUIRE(std::rename(folder.run.path.c_str(), aside.c_str()) == 0);
  CHECK(presence.look());
  REQUIRE(std::rename(aside.c_str(), folder.run.path.c_str()) == 0);
  CHECK(presence.look());
  CHECK(presence.look());
}

TEST_CASE("who looks twice has the answer at once") {
  const Run folder;
  Presence presence(folder.run);
  CHECK(presence.look_twice());
  REQUIRE(remove_all(folder.run.path));
  CHECK_FALSE(presence.look_twice());
}
