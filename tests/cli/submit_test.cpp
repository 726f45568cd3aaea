// SPDX-License-Identifier: Apache-2.0
// dtsubmit submit without Slurm: dry runs, and every refusal with its exit code.
#include "tests/cli/session.hpp"

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace {

using namespace dts;
using namespace dts::tests;

const Words k_job_options{
    "--nodes", "2", "--gpus-per-node", "8", "--time", "90", "--mem", "16G", "--partition", "gpu"};

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const Words k_program{"--", "python3", "my train.py", "--lr", "0.1", "it's", "$HOME"};

}  // namespace

TEST_CASE("a dry run prints plan and script as they were, and writes nothing") {
  const Session session;
  const Output output = session.dtsubmit(with(with(k_job_options, {"--dry-run"}), k_program));
  CHECK(output.exit_code == 0);
  CHECK(contains(output.err, "no file my train.py on this machine"));
  check_golden("dry-run.txt", session.normal(output.out));
  CHECK(list_folder(session.path).empty());
}

TEST_CASE("a shell script with DOS line endings gets a note, a Python script does not") {
  const Session session;
  for (const char* name : {"dos.sh", "dos.py", "unix.sh"})
    REQUIRE(
        write_file(session.file(name), std::string("exit 0") + (name[0] == 'd' ? "\r\n" : "\n")));
  const auto said = [&](const Words& program) {
    return session.dtsubmit(with({"--dry-run", "--"}, program)).err;
  };
  CHECK(contains(said({"bash", "-e", "dos.sh"}), "dos.sh has DOS line endings"));
  CHECK(contains(said({"bash", "-e", "dos.sh"}), "text: sed -i 's/\\r$//' dos.sh\n"));
  CHECK_FALSE(contains(said({"bash", "unix.sh"}), "DOS"));
  CHECK_FALSE(contains(said({"python3", "dos.py"}), "DOS"));
}

TEST_CASE("a script that activates an environment of conda which is not set up gets a note") {
  const Session session;
  const auto said = [&](const char* script) {
    return session.dtsubmit({"--dry-run", "--", "bash", "-c", script}).err;
  };
  CHECK(contains(said("conda activate torch\nexec python3 train.py"),
                 "note: bash -c: `conda activate` does not work in a batch script by itself; eval "
                 "\"$(conda shell.bash hook)\" before it"));
  CHECK_FALSE(contains(said("source conda.sh\nconda activate torch"), "conda activate"));
}

TEST_CASE("a launcher that names its hosts gets a warning on one node, too") {
  const Session session;
  const auto said = [&](const Words& words) {
    return session.dtsubmit(with({"submit", "--dry-run", "--time", "9", "--"}, words)).err;
  };
  CHECK(contains(said({"deepspeed", "--hostfile=my hosts", "t.py"}),
                 "deepspeed starts processes on the hosts that 'my hosts' names"));
  CHECK_FALSE(contains(said({"deepspeed", "t.py", "--hostfile", "x"}), "starts processes"));
  CHECK_FALSE(
      contains(said({"horovodrun", "-np", "4", "-H", "localhost:4", "t.py"}), "starts processes"));
}

TEST_CASE("what the set-up of a step names is looked for, and what it inherits is reported once") {
  const Session session;
  REQUIRE(write_file(session.file("job.toml"),
                     "setup = [\"all.sh\"]\n[[steps]]\nname = \"a\"\ncommand = [\"true\"]\n"
                     "[[steps]]\nname = \"b\"\nvenv = \"of-b\"\ncommand = [\"true\"]\n"));
  const Output output = session.dtsubmit({"submit", "--dry-run", "job.toml"});
  const std::string file = "--setup: no file all.sh on this machine";
  CHECK(contains(output.err, "no file of-b/bin/activate on this machine"));
  REQUIRE(contains(output.err, file));
  CHECK_FALSE(contains(output.err.substr(output.err.find(file) + 1), file));
}

TEST_CASE("a link to a program that only the nodes have, and an environment of an image") {
  const Session session;
  REQUIRE(make_folders(session.file("of image/bin")));
  REQUIRE(::symlink("/no/such/python", session.file("of image/bin/python").c_str()) == 0);
  const Output link =
      session.dtsubmit(with(k_job_options, {"--dry-run", "--", "of image/bin/python"}));
  CHECK(link.exit_code == 0);
  CHECK(contains(link.err, "does not exist on this machine"));
  CHECK(contains(session.dtsubmit(with(k_job_options, {"--dry-run", "--", "./none"})).err,
                 "no program `./none` on this machine"));
  const Output image = session.dtsubmit(
      with(k_job_options,
           {"--dry-run", "--container", "img", "--venv", "/in/the/image", "--", "python3", "x"}));
  CHECK_FALSE(contains(image.err, "--venv"));
}

TEST_CASE("a program that the set-up or an earlier step makes may not be there yet") {
  const Session session;
  constexpr const char* k_made = "no program `./once` on this machine (does the job make it?)";
  constexpr const char* k_missing = "no program `./once` on this machine (is the path right?)";
  const auto said = [&](const Words& words) {
    return session.dtsubmit(with({"--dry-run"}, words)).err;
  };
  for (const std::string line : {"gcc a.c -o once",
                                 "cat > ./once <<'E'\nE",
                                 "echo '#!/bin/sh' >once",
                                 "cp x/once . 2>/dev/null || exit 1",
                                 "mv a.out ./once",
                                 "cp x/once $PWD",
                                 "if true; then { make -C x once; }; fi",
                                 "make && chmod +x 'once'"}) {
    CAPTURE(line);
    CHECK(contains(said({"--setup", line, "--", "./once"}), k_made));
  }
  for (const std::string line : {"make",
                                 "./prepare once.txt",
                                 "module load once",
                                 "cd once",
                                 "make -C once/more",
                                 "# see once",
                                 "cat once",
                                 "./once --warm-up",
                                 "cp once /tmp",
                                 "source ./once",
                                 "rm -f sometimes/once-more"}) {
    CAPTURE(line);
    CHECK(contains(said({"--setup", line, "--", "./once"}), k_missing));
  }
  const std::string one = "[[steps]]\nname = \"a\"\ncommand = [\"cc\", \"-o\", \"once\"]\n";
  const std::string two = "[[steps]]\nname = \"b\"\ncommand = [\"./once\"]\n";
  REQUIRE(write_file(session.file("made.toml"), one + two));
  REQUIRE(write_file(session.file("late.toml"), two + one));
  CHECK(contains(said({"made.toml"}), k_made));
  CHECK(contains(said({"late.toml"}), k_missing));
}

TEST_CASE("a dry run in JSON is one document, as it was") {
  const Session session;
  const Output output =
      session.dtsubmit(with(with(k_job_options, {"--dry-run", "--json"}), k_program));
  CHECK(output.exit_code == 0);
  const auto document = nlohmann::json::parse(output.out, nullptr, false);
  REQUIRE(document.is_object());
  CHECK(document["schema"] == "dtsubmit/dry-run/1");
  CHECK(document["plan"]["world_size"] == 16);
  CHECK(document["plan"]["command"] == Words(k_program.begin() + 1, k_program.end()));
  check_golden("dry-run.json", session.normal(output.out));
}

TEST_CASE("a folder's name that is not UTF-8 does not prevent a JSON document") {
  const Session session;
  const Output output =
      session.shell("mkdir b\xff && cd b\xff && \"$DTSUBMIT\" --dry-run --json -- true");
  CHECK(output.exit_code == 0);
  CHECK(nlohmann::json::parse(output.out, nullptr, false).is_object());
}

TEST_CASE("in a folder that was removed nothing is submitted, and it is said why") {
  const Session session;
  for (const char* verb : {"submit --dry-run", "run"}) {
    CAPTURE(verb);
    const Output output =
        session.shell("mkdir -p away && cd away && rmdir ../away && \"$DTSUBMIT\" " +
                      std::string(verb) + " --runs \"$HOME/runs\" -- true");
    CHECK(output.exit_code == 3);
    CHECK(contains(output.err, "the current folder: it was removed"));
  }
  CHECK_FALSE(exists(session.file("runs")));
}

TEST_CASE("a note says that the program of a sweep does not get its values") {
  const Session session;
  const Words sweep{"--dry-run", "--sweep", "lr=1,2", "--", "true"};
  CHECK(contains(session.dtsubmit(sweep).err,
                 "note: no argument of the program has {lr}, so it finds the value of lr only in "
                 "DTSUBMIT_PARAMETER_LR\n"));
  CHECK_FALSE(contains(session.dtsubmit(with(sweep, {"{lr}"})).err, "note:"));
}

TEST_CASE("a dry run needs no Slurm, no PATH and no home") {
  Session session;
  session.environment.erase("PATH");
  session.environment.erase("HOME");
  session.environment["SLURM_CONF"] = "/nonexistent/slurm.conf";
  CHECK(session.dtsubmit({"--dry-run", "--", "true"}).exit_code == 0);
}

TEST_CASE("the word submit may be left out, also with a program alone") {
  const Session session;
  const std::string script =
      session.normal(session.dtsubmit({"submit", "--dry-run", "--", "true"}).out);
  CHECK(session.normal(session.dtsubmit({"--dry-run", "--", "true"}).out) == script);
  Session without_slurm;
  without_slurm.environment["SLURM_CONF"] = "/nonexistent/slurm.conf";
  CHECK(without_slurm.dtsubmit({"--", "true"}).exit_code == 4);
}

TEST_CASE("--no-requeue wins over --requeue") {
  const Session session;
  CHECK(contains(session.dtsubmit({"--dry-run", "--requeue", "--", "true"}).out,
                 "#SBATCH --requeue"));
  CHECK(contains(session.dtsubmit({"--dry-run", "--no-requeue", "--requeue", "--", "true"}).out,
                 "#SBATCH --no-requeue"));
}

TEST_CASE("all problems of a job are told at once, each with its option") {
  const Session session;
  const Output output = session.dtsubmit({"--nodes",
                                          "0",
                                          "--gpus-per-node",
                                          "eight",
                                          "--ntasks-per-node",
                                          "-1",
                                          "--cpus-per-task",
                                          "1.5",
                                          "--time",
                                          "soon",
                                          "--mem",
                                          "lots",
                                          "--signal-margin",
                                          "never",
                                          "--stop-signal",
                                          "KILL",
                                          "--job-name",
                                          "a\nb",
                                          "--",
                                          "true"});
  CHECK(output.exit_code == 3);
  CHECK(contains(output.err, "9 problems"));
  for (const char* option : {"--nodes:",
                             "--gpus-per-node:",
                             "--ntasks-per-node:",
                             "--cpus-per-task:",
                             "--time:",
                             "--mem:",
                             "--signal-margin:",
                             "--stop-signal:",
                             "--job-name:"})
    CHECK(contains(output.err, option));
}

TEST_CASE("problems of the options, of the plan and of the program are told together") {
  const Session session;
  const Output output = session.dtsubmit({"--dry-run",
                                          "--launcher",
                                          "foo",
                                          "--bind",
                                          "bar",
                                          "--mem",
                                          "much",
                                          "--ntasks-per-node",
                                          "8",
                                          "--",
                                          "bash",
                                          "-c",
                                          "torchrun train.py"});
  CHECK(output.exit_code == 3);
  CHECK(contains(output.err, "4 problems"));
  for (const char* option : {"--launcher:", "--bind:", "--mem:", "--ntasks-per-node:"})
    CHECK(contains(output.err, option));
}

TEST_CASE("an option copied from a line of srun is answered with what to do") {
  const Session session;
  for (const char* option : {"--container-image=i",
                             "--container-mounts=/a:/b",
                             "--container-workdir=/w",
                             "--image=i",
                             "--uenv=u",
                             "--environment=e",
                             "--kill-on-bad-exit",
                             "--label",
                             "--cpu-bind=none",
                             "--overlap"}) {
    CAPTURE(option);
    const Output output = session.dtsubmit({"--dry-run", option, "--", "true"});
    CHECK(output.exit_code == 2);
    CHECK(contains(output.err, "is an option of srun"));
  }
}

TEST_CASE("a dry run names options of the first job, and files that are not there") {
  const Session session;
  const Output output = session.dtsubmit(
      {"--dry-run", "--hold", "--dependency=afterok:7", "--setup", "no/env.sh", "--", "true"});
  CHECK(output.exit_code == 0);
  CHECK(contains(output.out, "# for the first job only:"));
  CHECK(contains(output.out, "--dependency=afterok:7"));
  CHECK(contains(output.out, "--hold"));
  CHECK(contains(output.err, "--setup: no file no/env.sh"));
  const Output line =
      session.dtsubmit({"--dry-run", "--setup", "source $HOME/env.sh", "--", "true"});
  CHECK(line.err.empty());
  CHECK_FALSE(contains(line.out, "first job only"));
}

TEST_CASE("a length of time may have a unit in every option; without one it is as documented") {
  const Session session;
  const auto spec = [&](const Words& words) {
    const Output output = session.dtsubmit(with(words, {"--dry-run", "--", "true"}));
    CAPTURE(words.back());
    CAPTURE(output.err);
    CHECK(output.exit_code == 0);
    return output.out;
  };
  for (const char* limit : {"90", "90m", "1.5h", "1:30:00", "5400s"})
    CHECK(contains(spec({"--time", limit}), "#SBATCH --time=\"01:30:00\""));
  for (const char* margin : {"300", "300s", "5m", "5:00"})
    CHECK(contains(spec({"--time", "1d", "--signal-margin", margin}), "B:USR1@300"));
  for (const char* option : {"--hang-timeout", "--start-timeout", "--preflight", "--time-total"})
    spec({option, "20s"});
  for (const Words& words : std::vector<Words>{{"--time", "s"},
                                               {"--time", "20x"},
                                               {"--time", "0s"},
                                               {"--hang-timeout", "0"},
                                               {"--signal-margin", "1d"},
                                               {"--start-timeout", "-5s"}})
    CHECK(session.dtsubmit(with(words, {"--dry-run", "--", "true"})).exit_code == 3);
}

TEST_CASE("a second word for a command that takes none does not speak of programs") {
  const Session session;
  const Output output = session.dtsubmit({"requeue", "16", "17"});
  CHECK(output.exit_code == 2);
  CHECK(contains(output.err, "unexpected argument `17`"));
  CHECK(contains(output.err, "dtsubmit requeue --help"));
  const Output both = session.dtsubmit({"cancel", "16", "17"});
  CHECK(both.exit_code == 6);
  CHECK(contains(both.err, "no run of `16`"));
  CHECK(contains(both.err, "no run of `17`"));
}

TEST_CASE("numbers that are too large or odd are refused, not wrapped around") {
  const Session session;
  for (const Words& words : std::vector<Words>{{"--nodes", "4294967297"},
                                               {"--nodes", "65536"},
                                               {"--nodes", "1e3"},
                                               {"--nodes", "+1"},
                                               {"--nodes", " 1"},
                                               {"--nodes", "0x10"},
                                               {"--ntasks-per-node", "0"},
                                               {"--cpus-per-task", "0"},
                                               {"--signal-margin", "65536"},
                                               {"--time", "0"},
                                               {"--mem", "99999999999999999999G"}}) {
    CAPTURE(words[1]);
    const Output output = session.dtsubmit(with(words, {"--dry-run", "--", "true"}));
    CHECK(output.exit_code == 3);
    CHECK(contains(output.err, words[0]));
  }
}

TEST_CASE("a job may be called as Slurm allows it; its folder has what a folder can") {
  const Session session;
  for (const auto& row : std::map<std::string, std::string>{{"../../x", "x-"},
                                                            {"/etc/x", "etcx-"},
                                                            {"..", "job-"},
                                                            {".hidden", "hidden-"},
                                                            {"-x", "x-"},
                                                            {"llama: 7b %j", "llama7bj-"},
                                                            {"a\"b'c", "abc-"},
                                                            {"$(x)", "x-"},
                                                            {"\xc3\xa9", "job-"}}) {
    const auto& [name, folder] = row;
    CAPTURE(row.first);
    const Output output = session.dtsubmit({"--dry-run", "--job-name=" + name, "--", "true"});
    CHECK(output.exit_code == 0);
    CHECK(contains(output.out, "/runs/" + folder));
  }
}

TEST_CASE("names that could end a line are refused") {
  const Session session;
  for (const char* name : {"a\nb", "\xff", "a\tb", "a\rb"}) {
    CAPTURE(std::string(name));
    const Output output =
        session.dtsubmit({"--dry-run", "--job-name=" + std::string(name), "--", "true"});
    CHECK(output.exit_code == 3);
    CHECK(contains(output.err, "--job-name"));
    CHECK(output.out.empty());
  }
  for (const char* option : {"--partition", "--account", "--qos"}) {
    const Output output =
        session.dtsubmit({"--dry-run", option, "a\n#SBATCH --exclusive", "--", "true"});
    CHECK(output.exit_code == 3);
    CHECK(contains(output.err, option));
  }
}

TEST_CASE("a hostile word of the program does not get out of the plan into the script") {
  const Session session;
  const Output output = session.dtsubmit({"--dry-run",
                                          "--",
                                          "true",
                                          "'; touch hacked; '",
                                          "$(touch hacked)",
                                          "a\n#SBATCH --exclusive"});
  CHECK(output.exit_code == 0);
  CHECK_FALSE(contains(output.out, "#SBATCH --exclusive"));
  CHECK_FALSE(contains(output.out, "hacked"));
}

TEST_CASE("without a Slurm configuration the scheduler is unreachable, and it is said what to do") {
  for (const char* conf : {"/nonexistent/slurm.conf", "/dev/null", "/tmp", ""}) {
    CAPTURE(std::string(conf));
    Session session;
    session.environment["SLURM_CONF"] = conf;
    const Output output = session.dtsubmit({"--", "true"});
    CHECK(output.exit_code == 4);
    CHECK(output.out.empty());
    CHECK(contains(output.err, "dtsubmit: error:"));
    CHECK(contains(output.err, "help:"));
    CHECK_FALSE(exists(session.file("runs")));  // nothing half-written
  }
  if (exists("/etc/slurm/slurm.conf")) return;
  const Output output = Session().dtsubmit({"--", "true"});
  CHECK(output.exit_code == 4);
  CHECK(contains(output.err, "dtsubmit: error:"));
}

TEST_CASE("a controller that is not there is unreachable, in seconds") {
  Session session;
  REQUIRE(write_file(session.file("slurm.conf"),
                     "ClusterName=x\nSlurmctldHost=localhost\nSlurmctldPort=1\nMessageTimeout="
                     "5\nNodeName=localhost\n"
                     "PartitionName=p Nodes=ALL\nAuthType=auth/munge\n"));
  session.environment["SLURM_CONF"] = session.file("slurm.conf");
  const Output output = session.dtsubmit({"--", "true"});
  CHECK(output.exit_code == 4);
  CHECK(contains(output.err, "dtsubmit: error:"));
}
