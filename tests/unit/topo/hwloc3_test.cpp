// SPDX-License-Identifier: Apache-2.0
// Files of hwloc 3 say the same in the words of hwloc 2.
#include "core/topo/hwloc/hwloc3.hpp"

#include "core/base/files/files.hpp"
#include "core/topo/hwloc/load.hpp"
#include "core/topo/hwloc/xml_file.hpp"
#include "core/topo/json.hpp"
#include "tests/support/source_dir.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace dts::topo {
namespace {

std::string replaced(std::string text, const std::string& old, const std::string& with) {
  REQUIRE(text.find(old) != std::string::npos);
  for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += with.size())
    text.replace(at, old.size(), with);
  return text;
}

std::string type_of(unsigned types, const std::string& name, const std::string& more = "") {
  constexpr const char* k_tag =
      R"(<object type="OSDev" gp_index="27"{} name="{}" osdev_type="{}"/>)";
  const std::string text = as_version_2(fmt::format(k_tag, more, name, types));
  const std::string before = "osdev_type=\"";
  const std::string type = text.substr(text.find(before) + before.size(), 1);
  CHECK(text == fmt::format(k_tag, more, name, type));
  return type;
}

}  // namespace

TEST_CASE("types of devices, which are bits in hwloc 3, are those of hwloc 2") {
  CHECK(type_of(1, "sda") == "0");
  CHECK(type_of(2, "dax0.0") == "0");
  CHECK(type_of(3, "dax0.0") == "0");
  CHECK(type_of(4, "card0") == "1");
  CHECK(type_of(4, ":0.0") == "1");
  CHECK(type_of(16, "eth0") == "2");
  CHECK(type_of(48, "mlx5_0") == "3");
  CHECK(type_of(16, "bxi0", R"( subtype="BXI")") == "3");
  CHECK(type_of(64, "dma0chan0") == "4");
  CHECK(type_of(8, "opencl0d0", R"( subtype="OpenCL")") == "5");
  CHECK(type_of(12, "cuda0", R"( subtype="CUDA")") == "5");
  CHECK(type_of(12, "ze0", R"( subtype="LevelZero")") == "5");
  CHECK(type_of(12, "nvml0", R"( subtype="NVML")") == "1");
  CHECK(type_of(12, "rsmi0", R"( subtype="RSMI")") == "1");
}

TEST_CASE("what is not a value with a new meaning stays") {
  for (const std::string text :
       {"",
        "<",
        "<<",
        "no tag",
        "<topology>",
        "<object",
        "<object type='OSDev' osdev_type=",
        "<object osdev_type=\"1",
        R"(<info name="kind" value="a &lt; b"/> kind="33" <memattr kind="33"/>)",
        R"(<object type="PU" os_index="16"/>)"}) {
    CAPTURE(text);
    CHECK(as_version_2(text) == text);
  }
  CHECK(as_version_2("<topology version='3.1'>") == "<topology version='2.0'>");
  CHECK(as_version_2("<object\n\tosdev_type=\"16\"/>") == "<object\n\tosdev_type=\"2\"/>");
  CHECK(type_of(0, "unknown") == "0");
  const std::string comment = "<!-- <topology version=\"2.0\"> <object osdev_type=\"16\"/> -->";
  CHECK(version_of(comment + "<topology version=\"3.0\">") == "3.0");
  CHECK(as_version_2(comment) == comment);
  CHECK(as_version_2(R"(<distances2 type="OSDev" nbobjs="4" kind="33" name="XGMIHops">)") ==
        R"(<distances2 type="OSDev" nbobjs="4" kind="5" name="XGMIHops">)");
  CHECK(as_version_2(R"(<distances2hetero nbobjs="4" kind="9">)") ==
        R"(<distances2hetero nbobjs="4" kind="9">)");
}

TEST_CASE("a machine is the same in a file of hwloc 3") {
  const std::string path = tests::in_source("tests/data/topologies/uneven.xml");
  std::string text =
      replaced(*read_file(path), R"(<topology version="2.0">)", R"(<topology version="3.0">)");
  text = replaced(std::move(text), R"(osdev_type="3")", R"(osdev_type="48")");
  // What hwloc 3 adds behind the objects.
  text = replaced(std::move(text), "</topology>", R"(<info name="Backend" value="Linux"/>
<memtier kinds="1" nodeset="0x00000003"/>
<pci_locality domain="0x0" bus_min="0x2b" bus_max="0x3b" cpuset="0x00000003"/>
</topology>)");
  const tests::TemporaryFolder folder;
  REQUIRE(write_file(folder.file("three.xml"), text));
  const auto node = load_xml(folder.file("three.xml"));
  REQUIRE(node);
  CHECK(node->nics.size() == 2);
  CHECK(to_json(*node) == to_json(*load_xml(path)));
}

TEST_CASE("a file of a hwloc that is not known yet is called by its version") {
  const auto text = readable_xml(R"(<topology version="4.0"></topology>)", "four.xml");
  REQUIRE_FALSE(text);
  CHECK(text.error().message ==
        "four.xml was written by hwloc 4.0; this program reads versions up to 3");
  CHECK(version_of("<topology version=\"9.1\x1b[31m\">") == "9.1");
}

}  // namespace dts::topo
