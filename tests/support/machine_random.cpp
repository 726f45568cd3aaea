// SPDX-License-Identifier: Apache-2.0
#include "tests/support/machine_random.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <random>
#include <vector>

namespace dts::tests {
namespace {

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  std::string make() {
    threads_ = below(3) == 0 ? 1 + below(4) : 1;
    hybrid_ = below(12) == 0;
    if (hybrid_) text_ = "kind little capacity 512\nkind big capacity 1024\n";
    if (below(4) == 0) text_ += "number by-core\n";
    packages_ = 1 + below(below(4) == 0 ? 4 : 2);
    for (unsigned i = 0; i < packages_; ++i) add_package();
    add_devices();
    close_processors();
    return text_;
  }

 private:
  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

  void line(unsigned depth, const std::string& words) {
    text_ += fmt::format("{:{}}{}\n", "", 2 * depth, words);
  }

  void add_package() {
    line(0, "package");
    const unsigned nodes = 1 + below(4);
    for (unsigned node = 0; node < nodes; ++node, ++numas_) {
      line(1, fmt::format("numa memory {}G", 1 + below(64)));
      const unsigned caches = below(4);
      if (caches == 0) add_cores(2);
      for (unsigned cache = 0; cache < caches; ++cache, ++l3s_) {
        line(2, "l3");
        add_cores(3);
      }
    }
    if (below(6) == 0) line(1, "memory 16G");
  }

  void add_cores(unsigned depth) {
    const unsigned cores = 1 + below(below(3) == 0 ? 16 : 4);
    line(depth,
         fmt::format("core x{} smt {}{}",
                     cores,
                     threads_,
                     !hybrid_        ? ""
                     : below(2) == 0 ? " kind big"
                                     : " kind little"));
    processors_ += cores * threads_;
  }

  // Mostly NUMA nodes, which may get several devices.
  std::string place() {
    const unsigned kind = below(12);
    if (kind == 0) return fmt::format("package {}", below(packages_));
    if (kind == 1 && below(4) == 0) return "machine";
    if (kind == 2 && l3s_ > 0) return fmt::format("l3 {}", below(l3s_));
    return fmt::format("numa {}", below(numas_));
  }

  void add_devices() {
    const unsigned hosts = below(7);
    for (unsigned host = 0; host < hosts; ++host) {
      line(0, "host at " + place());
      const bool is_switch = below(2) == 0;
      if (is_switch) line(1, "switch gen4 x16");
      const unsigned devices = 1 + below(3);
      for (unsigned device = 0; device < devices; ++device, ++bus_)
        if (device == 0 || below(3) > 0)
          line(is_switch ? 2 : 1, fmt::format("gpu {:02x}:00.0 10de:2330 gen5 x16", bus_));
        else
          line(is_switch ? 2 : 1,
               fmt::format("nic {0:02x}:00.0 15b3:1021 infiniband gen5 x16 verbs mlx5_{0}", bus_));
    }
  }

  // Disallows some processors, but not the first.
  void close_processors() {
    if (below(3) > 0) return;
    std::vector<unsigned> closed;
    const unsigned keep = 1 + below(9);
    for (unsigned pu = 1; pu < processors_; ++pu)
      if (below(10) >= keep) closed.push_back(pu);
    if (!closed.empty())
      line(0,
           fmt::format("{} {}", below(3) == 0 ? "offline" : "disallowed", fmt::join(closed, ",")));
  }

  std::mt19937 random_;
  std::string text_;
  unsigned threads_ = 1, packages_ = 0, numas_ = 0, l3s_ = 0, processors_ = 0, bus_ = 1;
  bool hybrid_ = false;
};

}  // namespace

std::string random_machine(unsigned seed) {
  return Maker(seed).make();
}

}  // namespace dts::tests
