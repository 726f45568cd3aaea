// SPDX-License-Identifier: Apache-2.0
// A run that cannot take note of anything is told from one that can, and stays as it was.
#include "core/run/directory/writable.hpp"

#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>

namespace {

using namespace dts;
using namespace dts::run;
using tests::in_child;
using tests::TemporaryFolder;

}  // namespace

TEST_CASE("a run that can be written to is, and nothing is left of the try") {
  const TemporaryFolder folder;
  CHECK(check_writable({folder.path}));
  CHECK(list_folder(folder.path).empty());
}

TEST_CASE("a full disk and a run that is gone are errors, and nothing is left of the try") {
  const TemporaryFolder folder;
  const int code = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100, 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto writable = check_writable({folder.path});
    return writable ? 0 : exit_code(writable.error().code);
  });
  CHECK(code == 74);
  CHECK(list_folder(folder.path).empty());
  CHECK_FALSE(check_writable({folder.file("gone")}));
}
