// SPDX-License-Identifier: Apache-2.0
// What is written of the stacks of a program and its children.
#include "core/launch/program/stacks.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/program_file.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

using namespace dts;

TEST_CASE("py-spy beside the interpreter looks at each process of Python below a script") {
  const std::string interpreter = "/usr/bin/python3";
  if (!find_program(interpreter)) {
    MESSAGE("skipped: no ", interpreter);
    return;
  }
  const tests::TemporaryFolder folder;
  const std::string place = folder.path;
  std::filesystem::create_symlink(interpreter, place + "/python3");
  REQUIRE(write_file(place + "/py-spy", "#!/bin/sh\necho \"stand-in: $*\"\n", 0700));
  Command command;
  command.argv = {"/bin/sh",
                  "-c",
                  place + "/python3 -c 'import time; print(flush=True); time.sleep(60)' >" + place +
                      "/up; true"};
  command.own_group = true;
  const auto program = start_process(command);
  REQUIRE(program);
  const auto is_up = [&] { return read_file(place + "/up").value_or("") == "\n"; };
  for (int i = 0; i < 1000 && !is_up(); ++i) ::usleep(10'000);
  REQUIRE(is_up());
  const std::vector<pid_t> family = launch::family_of(*program);
  CHECK(launch::write_stacks(*program, place + "/stacks", true).has_value());
  ::kill(-*program, SIGKILL);
  ::waitpid(*program, nullptr, 0);
  REQUIRE(family.size() == 2);
  const std::string said = read_file(place + "/stacks").value_or("");
  CAPTURE(said);
  const auto has = [&](pid_t one) {
    return said.find("stand-in: dump --pid " + std::to_string(one) + " --nonblocking") !=
           std::string::npos;
  };
  CHECK(has(family[1]));
  CHECK_FALSE(has(family[0]));
}
