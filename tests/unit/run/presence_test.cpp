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
  CHECK(presence.poll());  // once may be a hiccup
  CHECK_FALSE(presence.poll());
  CHECK_FALSE(presence.poll());
}

}  // namespace

TEST_CASE("a run directory is present while its files change") {
  const Run folder;
  Presence presence(folder.run);
  for (int i = 0; i < 3; ++i) {
    CHECK(presence.poll());
    REQUIRE(write_file(folder.run.ledger(), "changed"));
  }
}

TEST_CASE("a run directory that is removed, moved, replaced or emptied has vanished") {
  for (const std::string what : {"removed", "moved", "replaced", "emptied", "a file"}) {
    CAPTURE(what);
    const Run folder;
    const std::string path = folder.run.path, aside = folder.file("aside");
    Presence presence(folder.run);
    CHECK(presence.poll());
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

TEST_CASE("one failed check does not make a run directory vanish") {
  const Run folder;
  const std::string aside = folder.file("aside");
  Presence presence(folder.run);
  CHECK(presence.poll());
  REQUIRE(std::rename(folder.run.path.c_str(), aside.c_str()) == 0);
  CHECK(presence.poll());
  REQUIRE(std::rename(aside.c_str(), folder.run.path.c_str()) == 0);
  CHECK(presence.poll());
  CHECK(presence.poll());
}

TEST_CASE("is_present_now() answers without a second poll()") {
  const Run folder;
  Presence presence(folder.run);
  CHECK(presence.is_present_now());
  REQUIRE(remove_all(folder.run.path));
  CHECK_FALSE(presence.is_present_now());
}
