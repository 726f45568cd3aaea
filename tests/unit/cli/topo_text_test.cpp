// SPDX-License-Identifier: Apache-2.0
// The picture of a node in the terminal: nothing is cut off, nobody is left out.
#include "cli/output/topo_flags.hpp"
#include "cli/output/topo_fold.hpp"
#include "cli/output/topo_picture.hpp"
#include "cli/output/wrapped.hpp"
#include "core/base/text/text.hpp"
#include "core/plan/binding/binding.hpp"
#include "core/topo/distance.hpp"
#include "core/topo/hwloc/load.hpp"
#include "tests/unit/cli/topo_machines.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <regex>

namespace {

using namespace dts;
using namespace dts::cli;
using namespace dts::tests;

std::size_t times(const std::string& text, const std::string& words) {
  std::size_t count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
    ++count;
  return count;
}

std::size_t columns_of(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace

TEST_CASE("every machine fits into the terminal, with every device in the picture") {
  unsigned lines_most = 0;
  const unsigned checked = each_machine([&](const TopoReport& report) {
    const Scene scene = make_scene(report.node, report.gpus, report.binding);
    for (const std::size_t columns : {80, 120}) {
      const std::string picture = print(draw(scene, columns), {false, true});
      const auto lines = split(picture, '\n');
      for (const std::string& line : lines) REQUIRE(columns_of(line) <= columns);
      lines_most = std::max(lines_most, static_cast<unsigned>(lines.size()));
      for (std::size_t gpu = 0; gpu < report.node.gpus.size(); ++gpu)
        REQUIRE(times(picture, "GPU " + std::to_string(gpu) + " ") == 1);
      for (const topo::Nic& nic : report.node.nics)
        if (!nic.name.empty()) REQUIRE(times(picture, nic.name + " ") == 1);
      REQUIRE(scene.packages.size() <= k_most_packages);
      for (unsigned package = 0; package < scene.packages.size(); ++package)
        REQUIRE(times(picture, scene.packages[package].title + " ") == 1);
    }
    const std::string plain = to_text(report, 80, {false, false});
    REQUIRE(std::all_of(plain.begin(), plain.end(), [](char c) { return (c & 0x80) == 0; }));
    REQUIRE(to_text(report, 80, {false, false}) == plain);
  });
  MESSAGE(checked << " pictures, the highest of " << lines_most << " lines");
  CHECK(checked >= 20);
}

TEST_CASE("each cell is a core, marked by its rank") {
  const TopoReport report = small_machine();
  const Scene scene = make_scene(report.node, report.gpus, report.binding);
  std::string marks;
  for (const ScenePackage& package : scene.packages)
    for (const SceneNuma& numa : package.numas)
      for (const SceneCache& cache : numa.caches) {
        for (const SceneCore& core : cache.cores) marks += mark(core.use);
        marks += '|';
      }
  CHECK(marks == "0x|00|0(0)|(0)(0)|11|11|11|11|");
  CHECK(scene.packages[0].numas[0].title == "NUMA 0  1.0 GiB");
  REQUIRE(scene.packages[0].numas[0].devices.size() == 1);
  CHECK(scene.packages[0].numas[0].devices[0].name == "GPU 0");
  CHECK(scene.packages[0].numas[0].devices[0].use.ranks == std::vector<unsigned>{0});
  REQUIRE(scene.packages[1].devices.size() == 1);
  CHECK(scene.packages[1].devices[0].name == "GPU 1");
  REQUIRE(scene.devices.size() == 1);
  CHECK(scene.devices[0].use.closed);
  CHECK(scene.memory == std::vector<std::string>{"NUMA 4: 96 GiB, no cores"});
}

TEST_CASE("many packages that are alike are one box") {
  unsigned boxes = 0;
  for (const auto& row :
       {std::pair("package:32 numa:1 core:1 pu:1", "NUMA 0-31  1.0 GiB each"),
        std::pair("numa:1 package:32 core:1 pu:1", "NUMA 0  1.0 GiB"),
        std::pair("package:16 numa:1 l3:1 core:2 pu:2", "NUMA 0-15  1.0 GiB each")}) {
    const auto& [description, title] = row;
    CAPTURE(std::string(row.first));
    TopoReport report;
    report.node = *topo::load_synthetic(description);
    plan::BindRequest request;
    request.ranks = 2;
    report.binding = *plan::bind_node(report.node, request);
    const Scene scene = make_scene(report.node, {}, report.binding);
    REQUIRE(scene.packages.size() == 1);
    REQUIRE(scene.packages[0].numas.size() == 1);
    CHECK(scene.packages[0].title.starts_with("Packages 0-"));
    CHECK(scene.packages[0].numas[0].title == title);
    std::size_t cores = 0;
    for (const SceneCache& cache : scene.packages[0].numas[0].caches) cores += cache.cores.size();
    CHECK(cores == report.node.cores.size());
    CHECK(draw(scene, 80).height() < 20);
    ++boxes;
  }
  CHECK(boxes == 3);
}

TEST_CASE("a package with a device is not folded into others") {
  TopoReport report;
  report.node = *topo::load_synthetic("package:12 numa:1 core:2 pu:1");
  report.node.gpus = {{"0000:01:00.0", 3, 3}};
  plan::BindRequest request;
  request.gpus = {0};
  report.binding = *plan::bind_node(report.node, request);
  std::vector<std::string> titles;
  for (const ScenePackage& package : make_scene(report.node, {0}, report.binding).packages)
    titles.push_back(package.title);
  CHECK(titles == std::vector<std::string>{"Packages 0-2", "Package 3", "Packages 4-11"});
}

TEST_CASE("a package without cores is a box of its own, and a device at several names its nodes") {
  TopoReport report;
  report.node = *topo::load_synthetic("package:2 numa:2 core:2 pu:1");
  std::erase_if(report.node.cores, [](const topo::Core& core) { return core.package == 1; });
  report.node.gpus = {{"0000:01:00.0", 1}, {"0000:02:00.0", {}}};
  report.node.gpus[1].group = {1, 2};
  plan::BindRequest request;
  request.gpus = {0, 1};
  report.binding = *plan::bind_node(report.node, request);
  const Scene scene = make_scene(report.node, {0, 1}, report.binding);
  REQUIRE(scene.packages.size() == 2);
  CHECK(scene.packages[1].title == "Package 1  no cores");
  CHECK(scene.packages[1].memory == std::vector<std::string>{"NUMA 2,3: 1.0 GiB each, no cores"});
  REQUIRE(scene.packages[1].devices.size() == 1);
  CHECK(scene.packages[1].devices[0].name == "GPU 0");
  REQUIRE(scene.devices.size() == 1);
  CHECK(scene.devices[0].name == "GPU 1 at NUMA 1,2");
  CHECK(draw(scene, 80).width() <= 80);
}

TEST_CASE("lists that are too wide go on in the next line, or are whole") {
  CHECK(wrapped_list("0-3,8,12-15", 6) == std::vector<std::string>{"0-3,8,", "12-15"});
  CHECK(wrapped_list("mlx5_bond_0", 6) == std::vector<std::string>{"mlx5_b", "ond_0"});
  CHECK(wrapped_list("0,1", 80) == std::vector<std::string>{"0,1"});
  CHECK(wrapped_list("abcdef,g", 6) == std::vector<std::string>{"abcdef", ",g"});
  TopoReport report = small_machine();
  const std::string list = "0,4,8,12,16,20,24,28";
  report.node.nics[0].name = std::string(60, 'n');
  for (unsigned cpu = 0; cpu < 32; cpu += 4) report.binding.ranks[0].cpus.push_back(cpu);
  for (const std::string& line : split(to_text(report, 80, {false, true}), '\n'))
    CHECK(columns_of(line) <= 80);
  const std::string whole = to_text(report, 80, {false, true}, Lists::whole);
  CHECK(times(whole, std::string(60, 'n')) >= 1);
}

TEST_CASE("the distance of a row is that of the cores in it") {
  TopoReport report = small_machine();
  const std::vector<RankRow> rows = rank_rows(report);
  double sum = 0;
  const auto& rank = report.binding.ranks[0];
  for (const unsigned core : rank.home)
    sum += topo::distance(report.node.cores[core], report.node.gpus[0]);
  CHECK(rows[0].distance.starts_with(
      fmt::format("{:.2f}", sum / static_cast<double>(rank.home.size()))));
  report.node.nics.push_back({"0000:02:00.0", 0, 0, {}, {}, "mlx5_1"});
  report.binding.ranks[0].nics = {0, 1};
  CHECK(rank_rows(report)[0].path == "SYS,NODE");  // and not the mean of them
}

TEST_CASE("kinds of core stand apart from the numbers of CPUs") {
  TopoReport report;
  report.node = *topo::load_synthetic("package:1 numa:1 l3:1 core:20 pu:1");
  for (unsigned core = 0; core < 20; ++core) report.node.cores[core].kind = core / 4;
  plan::BindRequest request;
  report.binding = *plan::bind_node(report.node, request);
  const std::string text =
      print(draw(make_scene(report.node, {}, report.binding), 80), {false, false});
  CHECK(times(text, "k4 16") == 1);
  CHECK(times(text, "k416") == 0);
}

TEST_CASE("devices of all ranks have no rank's colour") {
  CHECK(mark({{0, 1}, false, false, true}) == "*");
  CHECK(mark({{0, 1}}) == "0+");
  CHECK(mark({{2}, true}) == "(2)");
  CHECK(ranks_in_words({{0, 1}, false, false, true}) == "all");
  CHECK(ranks_in_words({{0, 2, 3}}) == "r0,2,3");
  CHECK(ranks_in_words({}) == "-");
}

TEST_CASE("colours go to cells, and only if asked") {
  const TopoReport report = small_machine();
  const std::string plain = to_text(report, 80, {false, true});
  CHECK(plain.find('\033') == std::string::npos);
  const std::string coloured = to_text(report, 80, {true, true});
  CHECK(times(coloured, "\033[0;48;5;74;38;5;16m 0 ") > 1);  // home of rank 0
  CHECK(times(coloured, "\033[0;38;5;31m(0)") >= 1);         // its annex
  CHECK(std::regex_replace(coloured, std::regex("\033\\[[0-9;]*m"), "") == plain);
}

TEST_CASE("names from other people's files do not reach the terminal as they are") {
  TopoReport report = small_machine();
  report.node.nics[0].name = "evil\033[2J\n";
  const std::string text = to_text(report, 80, {true, true});
  CHECK(text.find("\033[2J") == std::string::npos);
  CHECK(times(text, "evil?[2J?") >= 1);
}

TEST_CASE("--json: everything that the picture shows") {
  const TopoReport report = small_machine();
  const auto document = nlohmann::json::parse(to_json(report));
  CHECK(document["schema"] == "dtsubmit/topo/1");
  CHECK(document["node"]["cores"].size() == 15);
  CHECK(document["node"]["closed_cores"].size() == 1);
  CHECK(document["node"]["gpus"][1]["numa"].is_null());
  CHECK(document["node"]["gpus"][1]["package"] == 1);
  CHECK(document["node"]["nics"][0]["name"] == "mlx5_0");
  CHECK(document["node"]["numas"][4]["has_cores"] == false);
  REQUIRE(document["ranks"].size() == 2);
  CHECK(document["ranks"][1]["gpus"] == nlohmann::json{1});
  CHECK(document["ranks"][1]["score"]["home_distance"] == 0);
  for (const Metric& metric : metrics()) {
    CAPTURE(metric.key);
    CHECK(document["score"].contains(metric.key));
    CHECK(document["policies"]["spread"][metric.key] == document["score"][metric.key]);
  }
}

TEST_CASE("flags of other launchers") {
  plan::NodeBinding binding;
  binding.ranks.resize(3);
  binding.ranks[0].cpus = {0, 1, 2, 3};
  binding.ranks[1].cpus = {4, 5, 64};
  binding.ranks[2].cpus = {130};
  CHECK(slurm_flags(binding) ==
        "--ntasks-per-node=3 --cpu-bind=mask_cpu:0xf,0x10000000000000030,"
        "0x400000000000000000000000000000000\n");
  CHECK(openmpi_rankfile(binding) ==
        "# mpirun -n 3 --mca rmaps_rank_file_physical 1 --rankfile FILE PROGRAM\n"
        "rank 0=localhost slot=0-3\nrank 1=localhost slot=4,5,64\nrank 2=localhost slot=130\n");
}

TEST_CASE("lines break at blanks") {
  CHECK(wrapped("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrapped("incomprehensibilities of it", 7) ==
        std::vector<std::string>{"incomprehensibilities", "of it"});
  CHECK(wrapped("", 7) == std::vector<std::string>{""});
}
