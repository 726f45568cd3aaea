// SPDX-License-Identifier: Apache-2.0
// What a full disk does not take waits, and is written in its order once there is room.
#include "core/run/ledger/ledger_writer.hpp"

#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>

namespace {

using namespace dts;
using namespace dts::run;
using tests::in_child;
using tests::TemporaryFolder;

void limit_files(rlim_t bytes) {
  const rlimit limit{bytes, RLIM_INFINITY};
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

}  // namespace

TEST_CASE("events that the disk refuses wait, are known, and are written in their order later") {
  const TemporaryFolder folder;
  const std::string path = folder.file("ledger.jsonl");
  const int code = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    LedgerWriter ledger(path);
    if (!ledger.append({.what = Created{}})) return 1;
    limit_files(read_file(path).value().size() + 20);
    if (ledger.append({.what = Submitted{}}) || ledger.append({.what = Resumed{}})) return 2;
    if (ledger.waiting().size() != 2 || ledger.events().size() != 3) return 3;
    if (!ledger.events().back().is<Resumed>() || ledger.events().back().time.empty()) return 4;
    limit_files(RLIM_INFINITY);
    if (!ledger.append({.what = Requeued{}}) || !ledger.waiting().empty()) return 5;
    return 0;
  });
  CHECK(code == 0);
  const auto events = read_ledger(path);
  REQUIRE(events);
  std::string story;
  for (const Event& event : *events) story += std::string(event_name(event)) + " ";
  CHECK(story == "created submitted resumed requeued ");
}

TEST_CASE("where the ledger cannot be read any more, what it had is still known") {
  const TemporaryFolder folder;
  LedgerWriter ledger(folder.file("ledger.jsonl"));
  REQUIRE(ledger.append({.what = Created{}}));
  CHECK(ledger.events().size() == 1);
  REQUIRE(remove_all(folder.path));
  CHECK_FALSE(ledger.append({.what = Resumed{}}));
  CHECK(ledger.events().size() == 2);
  CHECK_FALSE(exists(folder.path));
}
