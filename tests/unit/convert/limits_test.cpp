// SPDX-License-Identifier: Apache-2.0
// umask and ulimit: programs, set-up and tear-down have those of the script.
#include "tests/unit/convert/reduced.hpp"

using namespace dts;
using namespace dts::convert;

TEST_CASE("a plain umask or ulimit before the programs is an option") {
  const Reduced made =
      of_nodes("module load x\nulimit -Sn 4096 -c 0\nexport A=1\numask 027\nsrun ./a\nsrun ./b\n");
  CHECK(made.became("ulimit") == Became::option);
  CHECK(made.job_has("ulimit = [\"nofile=4096\", \"core=0\"]"));
  CHECK(made.job_has("umask = \"027\""));
  CHECK(made.job_has("command = [\"./a\"]"));
  CHECK_FALSE(made.job_has("SCRIPT_LIMITS"));
  CHECK_FALSE(made.job_has("umask 027"));  // nothing in the set-up needs it
  CHECK(of_one_node("ulimit -a\nsrun ./a\n").became("ulimit") == Became::unnecessary);
  CHECK(of_one_node("umask\nulimit -n\nsrun ./a\n").became("ulimit") == Became::unnecessary);
  CHECK(of_one_node("ulimit -n > limits\nsrun ./a\n").became("ulimit") == Became::set_up);
}

TEST_CASE("the set-up and the tear-down have the script's umask, too") {
  const Reduced made = of_nodes("umask 077\nmkdir -p out\nsrun ./a\ntouch out/done\n");
  CHECK(made.became("umask") == Became::option);
  CHECK(made.job_has("umask = \"077\""));
  CHECK(made.job_has("umask 077 || true\nmkdir -p out"));
  CHECK(made.job_has("\numask 077\nif on_first_node; then\ntouch out/done"));
  CHECK(made.job_has("command = [\"./a\"]"));
  const Reduced before = of_nodes("mkdir -p out\numask 077\nsrun ./a\n");
  CHECK_FALSE(before.job_has("umask 077"));
  const Reduced behind = of_one_node("srun ./a\numask 077\ntouch done\n");
  CHECK_FALSE(behind.job_has("umask = "));
  CHECK(behind.job_has("umask 077\ntouch done"));
  CHECK(of_one_node("srun ./a\ntouch done\numask 077\n").became("umask") == Became::unnecessary);
}

TEST_CASE("what only the set-up's shell knows of its limits is handed on to the programs") {
  for (const std::string line : {"ulimit -n 65536 || true",
                                 "if [ -d /big ]; then ulimit -n 4096; fi",
                                 "[ -d /big ] && ulimit -n 4096",
                                 "ulimit -n $(ulimit -Hn)",
                                 "ulimit -n \"$LIMIT\"",
                                 "more() { ulimit -n 4096; }\nmore",
                                 "ulimit -Hn 4096",
                                 "command ulimit -n 4096",
                                 "ulimit -n 4096 && export A=1"}) {
    CAPTURE(line);
    const Reduced made = of_nodes(line + "\nsrun ./a\ntouch done\n");
    CHECK(made.became(line) == Became::set_up);
    CHECK(made.job_has("\nexport SCRIPT_LIMITS=\"ulimit -S -n $(ulimit -Sn)\"\n"));
    CHECK(made.job_has("eval \"$SCRIPT_LIMITS\"\nexec ./a"));
    CHECK(made.job_has("teardown = ['''\neval \"$SCRIPT_LIMITS\"\n"));
  }
  CHECK(of_nodes("builtin umask 077\nsrun ./a\n").job_has("SCRIPT_LIMITS=\"umask $(umask)\""));
  const Reduced mode = of_nodes("umask u=rwx,g=rx,o=\nulimit 8\nsrun ./a\n");
  CHECK(mode.job_has("export SCRIPT_LIMITS=\"umask $(umask); ulimit -S -f $(ulimit -Sf)\""));
  for (const std::string line :
       {"(umask 077; make b)", "M=$(umask 077; umask)", "bash -c 'umask 077'", "echo umask 077"}) {
    CAPTURE(line);
    CHECK_FALSE(of_nodes(line + "\nsrun ./a $M\n").job_has("SCRIPT_LIMITS"));
  }
}

TEST_CASE("programs have the umask and the limits of their place in the script") {
  const Reduced made = of_one_node("umask 077\nsrun ./a\numask 022\nsrun ./b\n");
  CHECK_FALSE(made.job_has("umask = "));
  CHECK(made.job_has("setup = ['''\numask 077 || true\nexport SCRIPT_LIMITS="));
  CHECK(made.job_has("umask 077 || true\numask 022 || true\n"));
  const char* why = "write it before the first program";
  CHECK(of_one_node("{ umask 077; srun ./a; }\nsrun ./b\n").says("{ umask", why));
  CHECK(of_one_node("r() { ulimit -n 9; srun ./a $1; return; }\nr 1\nsrun ./b\n").says("r 1", why));
  CHECK_FALSE(of_one_node("(umask 077; srun ./a)\nsrun ./b\n").says("(umask", why));
  CHECK_FALSE(of_one_node("{ umask 077; srun ./a; }\necho done\n").says("{ umask", why));
}
