// SPDX-License-Identifier: Apache-2.0
// dtsubmit topo as users see it: pictures of an uneven node, a document, flags for other launchers,
// and refusals that name the option.
#include "core/base/os/process_table.hpp"
#include "tests/cli/session.hpp"
#include "tests/support/source_dir.hpp"

#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

namespace {

using namespace dts;
using namespace dts::tests;

// Two packages with two NUMA nodes each. GPUs: two at the first node, one at the second, one at a
// package.
const std::string k_uneven = in_source("tests/data/topologies/uneven.xml");

// A session with this file in its folder, so that the output has no path of this machine.
struct Desk : Session {
  Desk() { REQUIRE(write_file(file("uneven.xml"), *read_file(k_uneven))); }

  [[nodiscard]] Output topo(Words words) const {
    words.insert(words.begin(), {"topo", "--topology", "uneven.xml"});
    return dtsubmit(words);
  }
};

// The process of dtsubmit-topology that reads `path`, once it runs.
pid_t reader_of(const std::string& path) {
  for (int i = 0; i < 1000; ++i) {
    for (const auto& [pid, process] : living_processes()) {
      const Words words = command_of(pid);
      if (words.size() > 1 && words[0].ends_with("/dtsubmit-topology") && words.back() == path)
        return pid;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return 0;
}

}  // namespace

TEST_CASE("signals to every process of a job do not end the reading of a topology") {
  const Desk desk;
  const std::string pipe = desk.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  auto output = std::async(std::launch::async, [&] {
    return desk.dtsubmit({"topo", "--topology", pipe, "--json"});
  });
  const pid_t reader = reader_of(pipe);
  for (const int number : {SIGTERM, SIGUSR1, SIGUSR2})
    if (reader > 0) ::kill(reader, number);
  std::ofstream(pipe) << *read_file(k_uneven);
  CHECK(output.get().exit_code == 0);
  CHECK(reader > 0);
}

TEST_CASE("the picture in the terminal, with the ranks and the scores") {
  Desk desk;
  const Output output = desk.topo({});
  CHECK(output.exit_code == 0);
  CHECK(output.err.empty());
  check_golden("topo.txt", output.out);
  CHECK(desk.topo({}).out == output.out);
  CHECK(desk.topo({"--color", "never"}).out == output.out);
  CHECK(contains(desk.topo({"--color", "always"}).out, "\033[0;48;5;"));
  desk.environment["LC_ALL"] = "C";
  desk.environment["COLUMNS"] = "120";
  check_golden("topo-part-ascii.txt",
               desk.topo({"--cpuset", "0-3,8-11", "--gpus", "0,2,3", "--ranks", "3"}).out);
}

TEST_CASE("the document and the drawing") {
  const Desk desk;
  const Output output = desk.topo({"--json", "--ranks", "2", "--svg", "node.svg"});
  CHECK(output.exit_code == 0);
  check_golden("topo.json", output.out);
  const auto document = nlohmann::json::parse(output.out);
  CHECK(document["schema"] == "dtsubmit/topo/1");
  CHECK(document["ranks"].size() == 2);
  const auto svg = read_file(desk.file("node.svg"));
  REQUIRE(svg);
  check_golden("topo.svg", *svg);
  CHECK(desk.topo({"--ranks", "2", "--svg", "-"}).out == *svg);
}

TEST_CASE("policies, threads and cores are taken") {
  const Desk desk;

  struct {
    Words words;
    Words cpus;  // of each rank
  } const cases[] = {
      {{"--bind", "compact", "--ranks", "2"}, {"0-7,16-23", "8-15,24-31"}},
      {{"--bind", "compact", "--ranks", "2", "--smt", "1"}, {"0-7", "8-15"}},
      {{"--bind", "map:0-3;8,9"}, {"0-3", "8,9", "0-3", "8,9"}},
      {{"--bind", "none", "--gpus-per-node", "2"}, {"0-31", "0-31"}},
      {{"--bind", "compact", "--ranks", "2", "--cores-per-rank", "2", "--smt", "1"},
       {"0,1", "2,3"}},
      {{"--gpus-per-node", "0", "--smt", "1"}, {"0-3", "4-7", "8-11", "12-15"}},
  };

  for (const auto& c : cases) {
    CAPTURE(c.words[1]);
    Words words = c.words;
    words.insert(words.end(), {"--emit", "openmpi"});
    const Output output = desk.topo(words);
    REQUIRE(output.exit_code == 0);
    std::string expected = "# mpirun -n " + std::to_string(c.cpus.size()) +
                           " --mca rmaps_rank_file_physical 1 --rankfile FILE PROGRAM\n";
    for (std::size_t rank = 0; rank < c.cpus.size(); ++rank)
      expected += "rank " + std::to_string(rank) + "=localhost slot=" + c.cpus[rank] + "\n";
    CHECK(output.out == expected);
  }
  CHECK(desk.topo({"--bind", "compact", "--ranks", "2", "--emit", "slurm"}).out ==
        "--ntasks-per-node=2 --cpu-bind=mask_cpu:0xff00ff,0xff00ff00\n");
}

TEST_CASE("warnings do not get among the flags") {
  const Desk desk;
  const Output output = desk.topo({"--ranks", "3", "--emit", "slurm"});
  CHECK(output.exit_code == 0);
  CHECK(std::count(output.out.begin(), output.out.end(), '\n') == 1);
  CHECK(contains(output.err, "dtsubmit: warning: no rank has GPU 1 of the job"));
}

TEST_CASE("this machine is drawn where no other is named") {
  const Output output = Session().dtsubmit({"topo"});
  CHECK(output.exit_code == 0);
  CHECK(contains(output.out, "this machine"));
  CHECK(contains(output.out, "Package 0"));
}

TEST_CASE("refusals name the option, and what there is") {
  const Desk desk;

  struct {
    Words words;
    int code;
    const char* says;
  } const cases[] = {
      {{"--ranks", "0"}, 2, "--ranks: `0` is not a whole number from 1 to 4096"},
      {{"--ranks", "5000"}, 2, "--ranks"},
      {{"--ranks", "-1"}, 2, "--ranks"},
      {{"--smt", "x"}, 2, "--smt"},
      {{"--cores-per-rank", "1.5"}, 2, "--cores-per-rank"},
      {{"--cores-per-rank", "9"}, 3, "cores per rank: 9 requested"},
      {{"--gpus", "0,7"}, 2, "there is no GPU 7: they are 0 to 3"},
      {{"--gpus", "0;1"}, 2, "`0;1` is not a list of numbers"},
      {{"--gpus-per-node", "5"}, 2, "--gpus-per-node: 5 requested, the node has only 4"},
      {{"--gpus-per-node", "x"}, 2, "--gpus-per-node: `x` is not a whole number"},
      {{"--gpus-per-node", "2", "--gpus", "0"}, 2, "conflicts with --gpus-per-node"},
      {{"--cpuset", "0-3,99"}, 2, "CPU 99 does not exist"},
      {{"--cpuset", "4-"}, 2, "--cpuset"},
      {{"--cpuset", "99999999999"}, 2, "--cpuset"},
      {{"--bind", "tight"}, 2, "--bind"},
      {{"--bind", "map:0-3;99"}, 3, "99"},
      {{"--emit", "flux"}, 2, "`flux` is not one of slurm, openmpi, none"},
      {{"--color", "red"}, 2, "`red` is not one of auto, always, never"},
      {{"--svg", "no/such/folder/x.svg"}, 6, "no/such/folder"},
  };

  for (const auto& c : cases) {
    CAPTURE(c.words[0]);
    CAPTURE(c.words[1]);
    const Output output = desk.topo(c.words);
    CHECK(output.exit_code == c.code);
    CHECK(output.out.empty());
    CAPTURE(output.err);
    CHECK(contains(output.err, c.says));
  }
  const Output both = desk.topo({"--ranks", "0", "--smt", "x", "--gpus", "9"});
  for (const char* option : {"--ranks", "--smt", "--gpus"}) CHECK(contains(both.err, option));
}

TEST_CASE("a file that is no topology, and one that is not there") {
  const Desk desk;
  REQUIRE(write_file(desk.file("bad.xml"), "<topology>"));
  const Output bad = desk.dtsubmit({"topo", "--topology", "bad.xml"});
  CHECK(bad.exit_code == 3);
  CHECK(contains(bad.err, "bad.xml"));
  CHECK(contains(bad.err, "lstopo"));
  const Output none = desk.dtsubmit({"topo", "--topology", "none.xml"});
  CHECK(none.exit_code == 6);
  CHECK(contains(none.err, "none.xml"));
}

TEST_CASE("a file that cannot be read is no fault of hwloc's") {
  const Desk desk;
  std::filesystem::create_symlink("loop.xml", desk.file("loop.xml"));  // root cannot read it either
  const Output output = desk.dtsubmit({"topo", "--topology", "loop.xml"});
  CHECK(output.exit_code == 74);
  CHECK(contains(output.err, "cannot read loop.xml: Too many levels of symbolic links"));
  CHECK_FALSE(contains(output.err, "hwloc"));
}

TEST_CASE("an adapter is not used if every rank has a nearer one") {
  const auto nics = nlohmann::json::parse(
      Desk().topo({"--json", "--gpus", "0", "--ranks", "1"}).out)["node"]["nics"];
  CHECK(nics[0]["used"] == true);
  CHECK(nics[1]["used"] == false);
}

TEST_CASE("what is wrong with a file is said as exactly as it is known") {
  const Desk desk;
  const std::string whole = *read_file(k_uneven);
  const auto damaged = [&whole](const std::string& from, const std::string& to) {
    std::string text = whole;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  std::string crashing = whole;  // without this attribute of a core, hwloc 2.9.0 dies of SIGSEGV
  crashing.replace(crashing.find("complete_cpuset", crashing.find("type=\"Core\"")), 3, "xxx");

  const std::pair<std::string, const char*> cases[] = {
      {"", "bad.xml is empty"},
      {"\n", "bad.xml is empty"},
      {whole.substr(0, whole.size() / 2), "bad.xml ends early: was it copied completely?"},
      {damaged(R"(allowed_cpuset="0xffffffff")", R"(allowed_cpuset="0x0")"),
       "bad.xml: the topology has no processor that may be used"},
      {damaged(R"("PU" os_index="1")", R"("PU" os_index="0")"),
       "bad.xml: the topology has a processor (PU) with the os_index 0, which its cpuset "
       "contradicts"},
      {damaged(R"("PU" os_index="1" cpuset="0x00000002")",
               R"("PU" os_index="0" cpuset="0x00000001")"),
       "bad.xml: the topology has no processor (PU) with the os_index 1"},
      {damaged(R"("NUMANode" os_index="1")", R"("NUMANode" os_index="9")"),
       "bad.xml: the topology has a NUMA node with the os_index 9, which its nodeset contradicts"},
      {damaged("</object>", "</objcet>"), "bad.xml:12: Opening and ending tag mismatch"},
      {damaged("Package", "Pakcage"), "unrecognized object type string Pakcage"},
      {"<html></html>", "bad.xml is not an hwloc topology"},
      {crashing, "bad.xml"},
      {std::string((64U << 20) + 1, ' '), "bad.xml is larger than 64 MiB"},
  };
  for (const auto& one : cases) {
    const auto& text = one.first;
    const auto& words = one.second;
    REQUIRE(write_file(desk.file("bad.xml"), text));
    const Output output = desk.dtsubmit({"topo", "--topology", "bad.xml"});
    CAPTURE(words);
    CAPTURE(output.err);
    CHECK(output.exit_code == 3);
    CHECK(contains(output.err, words));
  }
}

TEST_CASE("a topology may come from standard input") {
  const Desk desk;
  const std::string k_ask = R"("$DTSUBMIT" topo --topology - --ranks 2)";
  const Output output = desk.shell("cat uneven.xml | " + k_ask);
  CHECK(output.exit_code == 0);
  CHECK(contains(output.out, "4 GPUs, 2 NICs: standard input"));
  const Output file = desk.topo({"--ranks", "2"});
  CHECK(output.out.substr(output.out.find('\n')) == file.out.substr(file.out.find('\n')));
  const Output planned =
      desk.shell(R"(cat uneven.xml | "$DTSUBMIT" plan --gpus-per-node 2 --topology - -- hostname)");
  CHECK(contains(planned.out, "standard input"));
  const Output none = desk.shell(": | " + k_ask);
  CHECK(none.exit_code == 3);
  CHECK(contains(none.err, "standard input is empty"));
}

TEST_CASE("a file of hwloc 3 is read, and a later one is called by its version") {
  const Desk desk;
  const std::string text = *read_file(k_uneven);
  const auto topo = [&](const std::string& version) {
    std::string other = text;
    other.replace(other.find("version=\"2.0\""), 13, "version=\"" + version + "\"");
    // An adapter of InfiniBand, which hwloc 3 also calls a network device.
    const std::string type = "osdev_type=\"3\"";
    for (std::size_t at = 0; (at = other.find(type, at)) != std::string::npos;)
      other.replace(at, type.size(), "osdev_type=\"48\"");
    REQUIRE(write_file(desk.file("other.xml"), other));
    return desk.dtsubmit({"topo", "--topology", "other.xml"});
  };
  const Output three = topo("3.0");
  CHECK(three.exit_code == 0);
  CHECK(contains(three.out, "4 GPUs, 2 NICs: other.xml"));
  const Output four = topo("4.0");
  CHECK(four.exit_code == 3);
  CHECK(contains(four.err, "other.xml was written by hwloc 4.0"));
  CHECK(contains(four.err, "--export-xml-flags v2"));
  CHECK_FALSE(contains(four.err, "not an hwloc topology"));
}

TEST_CASE("GPUs of a node that has none") {
  const Desk desk;
  std::string text = *read_file(k_uneven);
  for (std::size_t at = 0; (at = text.find("0302 [10de", at)) != std::string::npos;)
    text.replace(at, 4, "0106");
  REQUIRE(write_file(desk.file("none.xml"), text));
  const Output output = desk.dtsubmit({"topo", "--topology", "none.xml", "--gpus-per-node", "2"});
  CHECK(output.exit_code == 2);
  CHECK(contains(output.err, "--gpus-per-node: 2 requested, the node has no GPU"));
  CHECK(desk.dtsubmit({"topo", "--topology", "none.xml", "--gpus-per-node", "0"}).exit_code == 0);
}

TEST_CASE("programs get whole lists, however narrow the picture is") {
  Desk desk;
  desk.environment["COLUMNS"] = "40";
  const std::string text = desk.topo({"--bind", "map:0,2,4,6,8,10,12,14,16,18,20,22,24"}).out;
  CHECK(contains(text, "   0  0,2,4,6,8,10,12,14,16,18,20,22,24  -"));
  CHECK_FALSE(contains(text, ".."));
}

TEST_CASE("NUMA nodes are called by Linux's numbers") {
  const Desk desk;
  REQUIRE(write_file(desk.file("dies.xml"),
                     *read_file(in_source("tests/data/topologies/no-memory.xml"))));
  const Output output = desk.dtsubmit({"topo", "--topology", "dies.xml"});
  REQUIRE(output.exit_code == 0);
  check_golden("topo-dies.txt", output.out);
  const auto document =
      nlohmann::json::parse(desk.dtsubmit({"topo", "--topology", "dies.xml", "--json"}).out);
  for (unsigned core = 0; core < 8; ++core)
    CHECK(document["node"]["cores"][core]["numa"] == core / 2);
  CHECK(document["node"]["gpus"][1]["numa"] == 1);
  CHECK(document["ranks"][1]["numas"] == nlohmann::json{1});
}

TEST_CASE("a job that is not there cannot be verified") {
  const Session session;
  const Output output = session.dtsubmit({"topo", "--verify", "train"});
  CHECK(output.exit_code == 6);
  CHECK(contains(output.err, "train"));
}
