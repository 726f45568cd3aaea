// SPDX-License-Identifier: Apache-2.0
#include "core/convert/roles/world.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/roles/signature.hpp"
#include "core/lint/script/program.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

// What a program says of its place in a world.
struct Place {
  std::optional<std::uint64_t> nodes;
  std::optional<std::uint64_t> rank;
  std::vector<Span> of_rank;  // its words
};

class Reader {
 public:
  explicit Reader(const Resolver& resolver) : resolver_(resolver) {}

  [[nodiscard]] Place place_of(const Item& item) const {
    Place place;
    if (item.mains.size() != 1 || !item.mains[0]->launch.starts_processes) return place;
    const lint::Run& run = *item.mains[0];
    const auto option = [&run](const char* name) {
      return lint::program_option(run.words, run.launch.program_at, name);
    };
    for (const char* name : {"nnodes", "num_machines"})
      if (const auto one = option(name)) place.nodes = number_in(one->value.text);
    for (const char* name : {"node_rank", "machine_rank"})
      if (const auto one = option(name)) {
        place.rank = number_in(one->value.text);
        place.of_rank.push_back(one->span);
      }
    return place;
  }

 private:
  [[nodiscard]] std::optional<std::uint64_t> number_in(const std::string& value) const {
    const auto text = resolver_.text(from_expanded({{value, true}, {}, false}));
    return text ? parse_number(*text) : std::nullopt;
  }

  const Resolver& resolver_;
};

// No variable of `names` changes from one of the programs to the next.
bool are_steady(const std::vector<Part>& parts,
                const std::vector<std::size_t>& places,
                const Names& names) {
  for (std::size_t i = places.front() + 1; i < places.back(); ++i)
    for (const auto* all : {&parts[i].item.sets.variables, &parts[i].item.sets.arrays})
      for (const std::string& name : *all)
        if (names.count(name) > 0) return false;
  return true;
}

bool are_one(const std::vector<Part>& parts,
             const std::vector<std::size_t>& places,
             const std::vector<std::optional<NodeRange>>& nodes,
             const std::vector<Place>& all) {
  const auto [words, names] = signature_of(parts[places[0]].item, all[0].of_rank);
  if (words.empty()) return false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool is_next = nodes[i] && *nodes[i] == NodeRange{i, i + 1};
    const bool has_rank = all[i].of_rank.empty() ? all[0].of_rank.empty() : all[i].rank == i;
    if (!is_next || !has_rank || all[i].nodes != places.size() ||
        signature_of(parts[places[i]].item, all[i].of_rank).first != words)
      return false;
  }
  return are_steady(parts, places, names);
}

}  // namespace

World world_of(const std::vector<Part>& parts,
               const std::vector<std::size_t>& places,
               const std::vector<std::optional<NodeRange>>& nodes,
               const Resolver& resolver) {
  World world{false, std::vector<bool>(places.size())};
  const Reader reader(resolver);
  std::vector<Place> all;
  bool is_any = false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    all.push_back(reader.place_of(parts[places[i]].item));
    // Without a launcher it is on one node because the script is.
    const bool is_chosen = nodes[i] && parts[places[i]].item.mains.size() == 1 &&
                           parts[places[i]].item.mains[0]->launch.launcher != lint::Launcher::none;
    world.is_split[i] = is_chosen && all[i].nodes && *all[i].nodes > nodes[i]->size();
    is_any = is_any || world.is_split[i];
  }
  world.is_whole = is_any && are_one(parts, places, nodes, all);
  if (world.is_whole) std::fill(world.is_split.begin(), world.is_split.end(), false);
  return world;
}

}  // namespace dts::convert
