// SPDX-License-Identifier: Apache-2.0
// A user at a terminal, with a folder of their own, a clean environment, and dtsubmit.
#pragma once

#include "core/base/os/program_file.hpp"
#include "core/run/index/find.hpp"
#include "core/run/ledger/ledger.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace dts::tests {

using Words = std::vector<std::string>;

class Session : public TemporaryFolder {
 public:
  Session()
      : environment{{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                    {"HOME", path},
                    {"LC_ALL", "C.UTF-8"},
                    {"COLUMNS", "80"}} {
    REQUIRE_MESSAGE(!program().empty(), "DTSUBMIT is not set: run these tests through ctest");
    environment["DTS_TEST_SESSION"] = path;  // in every process that this session starts
    // Passes on options for sanitizers that the caller has set.
    for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"})
      if (const char* value = std::getenv(name)) environment[name] = value;
  }

  std::map<std::string, std::string> environment;
  std::function<int()> in_child;  // see Command

  [[nodiscard]] static std::string program() {
    const char* value = std::getenv("DTSUBMIT");
    return value != nullptr ? value : "";
  }

  [[nodiscard]] static bool has_mpirun() {
    if (find_program("mpirun")) return true;
    MESSAGE("skipped: no mpirun (Debian package openmpi-bin)");
    return false;
  }

  // Runs dtsubmit WORDS to its end.
  [[nodiscard]] Output dtsubmit(const Words& words) const;

  // Runs a line of shell to its end, with DTSUBMIT in its environment.
  [[nodiscard]] Output shell(const std::string& line) const;

  // Starts dtsubmit WORDS in the background, with its output in the files `out` and `err` of this
  // folder.
  [[nodiscard]] pid_t begin(const Words& words) const;

  [[nodiscard]] run::RunDirectory newest_run() const {
    const auto runs = run::list_runs(file("runs"));
    REQUIRE_FALSE(runs.empty());
    return runs.back();
  }

  // The ledger of the latest run as "event[:cause][:decision]" words.
  [[nodiscard]] Words story() const;

  // Processes whose environment still has this session's mark.
  [[nodiscard]] std::vector<pid_t> survivors() const;

  // `text` without parts that differ between machines and moments.
  [[nodiscard]] std::string normal(std::string text) const;

 private:
  [[nodiscard]] Command command(const Words& words) const;
};

// Waits until `holds`, at most 60 s; returns its last value.
template <class Condition>
bool wait_until(const Condition& holds);

// Compares `text` with tests/cli/golden/NAME, or writes that file if DTS_BLESS is set.
void check_golden(const std::string& name, const std::string& text);

using dts::tests::contains;

template <class Condition>
bool wait_until(const Condition& holds) {
  for (int i = 0; i < 3000; ++i) {
    if (holds()) return true;
    ::usleep(20'000);
  }
  return holds();
}

}  // namespace dts::tests
