// SPDX-License-Identifier: Apache-2.0
#include "core/topo/json.hpp"

#include <doctest/doctest.h>

#include <map>

namespace dts::topo {
namespace {

NodeTopology whole() {
  NodeTopology node;
  node.cores = {{0, 0, 0, {0, 4}, 0}, {1, 1, 1, {2}, 1}};
  node.gpus = {{"0000:3b:00.0", 0, 1, 2, {0, 3, 7}, "nvml0", 0, "GPU-1f", {"MIG-2e"}},
               {"0001:00:00.0", 0, {}, {}}};
  node.gpus[1].group = {1, 2};
  node.gpus[0].model = "NVIDIA A100-SXM4-40GB";
  node.fabric = {{"mlx5_0", 1, 200, true}};
  node.nics = {{"0000:5e:00.0", 1, 1, {}, {1}, "mlx5_0"}};
  node.nics[0].network = Network::ethernet;
  node.nics[0].link = Link::up;
  node.nics[0].gbps = 400;
  node.nics[0].pci_gbps = 252;
  node.numas = {{0, 0, 1ULL << 36, true}, {8, {}, 0, false, false}};
  node.links = {{0, 1, 400}};
  node.closed = {{1, 1, 1, {3, 7}, 0}};
  node.doubts = {"a doubt"};
  node.notes = {"a note"};
  return node;
}

}  // namespace

TEST_CASE("a topology survives its JSON") {
  const std::string text = to_json(whole());
  const auto back = from_json(text);
  REQUIRE(back);
  CHECK(to_json(*back) == text);
  CHECK(back->cores[1].kind == 1);
  CHECK(back->gpus[0].bridges == std::vector<unsigned>{0, 3, 7});
  CHECK(back->gpus[0].l3 == 2U);
  CHECK(back->gpus[0].uuid == "GPU-1f");
  CHECK(back->gpus[0].instances == std::vector<std::string>{"MIG-2e"});
  CHECK(back->gpus[0].model == "NVIDIA A100-SXM4-40GB");
  CHECK_FALSE(back->gpus[1].numa);
  CHECK(back->gpus[1].group == std::vector<unsigned>{1, 2});
  CHECK(back->nics[0].network == Network::ethernet);
  CHECK(back->nics[0].link == Link::up);
  CHECK(back->nics[0].gbps == 400);
  CHECK(back->nics[0].pci_gbps == 252);
  CHECK_FALSE(back->numas[1].has_memory);
  CHECK(back->notes == std::vector<std::string>{"a note"});
  CHECK(back->numas[1].os == 8);
  CHECK_FALSE(back->numas[1].package);
  CHECK(back->closed[0].pus == std::vector<unsigned>{3, 7});
}

TEST_CASE("JSON that no topology writes is refused, naming the place") {
  const std::map<std::string, std::vector<const char*>> bad{
      {"cores",
       {"{}",
        "[[0,0,0,[],0]]",
        "[[0,0,0,[1,1],0]]",
        "[[0,0,-1,[1],0]]",
        "[[0,0,4294967296,[1],0]]",
        "[[0,0,0,[0.5],0]]",
        "[[0,0,0,7,0]]",
        "[[0,0,0,[1]]]"}},
      {"gpus",
       {R"([["../../etc",0,0,0,[],"",0,"",[],[0,0],0,0,"",[]]])",
        R"([["0000:3b:00.0",0]])",
        R"([["0000:3b:00.0",0,-1,null,[],"",0,"",[],[0,0],0,0,"",[]]])",
        R"([["0000:3b:00.0",0,0,null,[-1],"",0,"",[],[0,0],0,0,"",[]]])",
        R"([["0000:3b:00.0",0,0,null,[],"a b",0,"",[],[0,0],0,0,"",[]]])",
        R"([["0000:3b:00.0",0,0,null,[],"",0,"",[]]])",
        R"([["0000:3b:00.0",0,0,null,[],"",0,"GPU-1;2",[],[0,0],0,0,"",[]]])",
        R"([["0000:3b:00.0",0,0,null,[],"",0,"",["a/b"],[0,0],0,0,"",[]]])",
        R"([["0000:3b:00.0",0,0,null,[],"",0,"",{},[0,0],0,0,"",[]]])",
        R"([["0000:3b:00.0",0,0,null,[],"",0,"",[],[5,0],0,0,"",[]]])",
        R"([["0000:3b:00.0",0,0,null,[],"",0,"",[],[0,3],0,0,"",[]]])",
        R"([["0000:3b:00.0",0,0,null,[],"",0,"",[],[0],0,0,"",[]]])",
        R"([["0000:3b:00.0",0,0,null,[],"",0,"",[],[0,0],-1,0,"",[]]])",
        R"([["0000:3b:00.0",0,0,null,[],"",0,"",[],[0,0],0,"8","",[]]])",
        R"([["0000:3b:00.0",0,0,null,[],"",0,"",[],[0,0],0,0,""]])",
        R"([["0000:3b:00.0",0,0,null,[],"",0,"",[],[0,0],0,0,7,[]]])",
        R"([["0000:3b:00.0",0,0,null,[],"",0,"",[],[0,0],0,0,"a\u0007",[]]])",
        R"([["0000:3b:00.0",0,0,null,[],"",0,"",[],[0,0],0,0,"",7]])",
        R"([["0000:3b:00.0",0,0,null,[],"",0,"",[],[0,0],0,0,"",[-1]]])"}},
      {"fabric",
       {R"([["mlx5_0",1,100]])",
        R"([["mlx5_0",1,100,1]])",
        R"([["mlx5_0,x",1,100,true]])",
        R"([["",1,100,true]])"}},
      {"numas",
       {"[[0,0,-1,true,true]]", "[[0,0,0,1,true]]", "[[0,0,0,true]]", R"([[0,"0",0,true,true]])"}},
      {"links", {"[[0,1]]", "[[1,0,5]]", "[[0,0,5]]", "[[0,9,5]]", "[[0,1,-5]]"}},
      {"closed", {"[[0,0,0,[],0]]"}},
      {"doubts", {"[0]", "0"}},
      {"notes", {"[0]", "0"}}};
  const std::string good = to_json(whole());
  for (const auto& row : bad)
    for (const char* value : row.second) {
      const std::string& key = row.first;
      const std::string text = [&] {  // the value of `key` replaced
        const std::size_t from = good.find("\"" + key + "\":") + key.size() + 3;
        std::size_t to = from, depth = 0;
        do {
          if (good[to] == '[') ++depth;
          if (good[to] == ']') --depth;
          ++to;
        } while (depth > 0);
        return good.substr(0, from) + value + good.substr(to);
      }();
      CAPTURE(text);
      const auto node = from_json(text);
      REQUIRE_FALSE(node);
      CHECK(node.error().code == Errc::invalid);
      CHECK(node.error().message.find("/" + key) != std::string::npos);
    }
  for (const char* text : {"", "[]", "{}", "nul", R"({"cores":[],"gpus":[],"fabric":[]})"})
    CHECK_FALSE(from_json(text));
  CHECK_FALSE(from_json(std::string(1 << 21, '[')));
}

}  // namespace dts::topo
