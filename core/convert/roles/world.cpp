// SPDX-License-Identifier: Apache-2.0
#include "core/convert/roles/world.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/roles/signature.hpp"
#include "core/lint/script/program.hpp"

#include <algorithm>

namespace dts::convert {
namespace {

// The number in --node_rank=$RANK or --node_rank $RANK, of the shell's word or of its value.
std::optional<std::uint64_t> number_in(const lint::ProgramOption& one,
                                       const Item& item,
                                       const Resolver& resolver,
                                       const Known& known) {
  // The option may be in a line outside of the item: `begin` is then too large, or wraps around.
  const std::size_t begin = one.span.begin - item.span().begin;
  const std::string source = begin < item.source.size()
                                 ? item.source.substr(begin, one.span.end - one.span.begin)
                                 : std::string();
  const std::size_t before = source.find_first_of("= \t");
  if (before != std::string::npos) {
    const auto word = word_in(std::string(trim(source.substr(before + 1))));
    const KnownText text = word ? known.text(*word) : KnownText{};
    if (text.is_exact()) return parse_number(text.text);
  }
  const auto text = resolver.text(from_expanded({{one.value.text, true}, {}, false}));
  return text ? parse_number(*text) : std::nullopt;
}

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
    const bool is_next =
        all[i].is_anywhere ? !all[i].of_rank.empty() : nodes[i] && *nodes[i] == NodeRange{i, i + 1};
    const bool has_rank = all[i].of_rank.empty() ? all[0].of_rank.empty() : all[i].rank == i;
    if (!is_next || !has_rank || all[i].nodes != places.size() ||
        signature_of(parts[places[i]].item, all[i].of_rank).first != words)
      return false;
  }
  return are_steady(parts, places, names);
}

}  // namespace

Place place_of(const Item& item, const Resolver& resolver, const Known& known) {
  Place place;
  if (item.mains.size() != 1 || !item.mains[0]->launch.starts_processes) return place;
  const lint::Run& run = *item.mains[0];
  const lint::LaunchOption* nodes = run.launch.option("nodes");
  place.is_anywhere = run.launch.launcher == lint::Launcher::srun &&
                      !run.launch.has_unknown_options && nodes != nullptr && nodes->value == "1" &&
                      run.launch.option("nodelist") == nullptr &&
                      run.launch.option("relative") == nullptr;
  const auto option = [&run](const char* name) {
    return lint::program_option(run.words, run.launch.program_at, name);
  };
  const auto number = [&](const lint::ProgramOption& one) {
    return number_in(one, item, resolver, known);
  };
  for (const char* name : {"nnodes", "num_machines"})
    if (const auto one = option(name)) place.nodes = number(*one);
  for (const char* name : {"node_rank", "machine_rank"})
    if (const auto one = option(name)) {
      place.rank = number(*one);
      place.of_rank.push_back(one->span);
    }
  return place;
}

World world_of(const std::vector<Part>& parts,
               const std::vector<std::size_t>& places,
               const std::vector<std::optional<NodeRange>>& nodes,
               const std::vector<Place>& all) {
  World world{false, std::vector<bool>(places.size())};
  bool is_any = false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& place = all[i];
    const std::size_t size = place.is_anywhere ? 1 : nodes[i] ? nodes[i]->size() : 0;
    // Without a launcher it is on one node because the script is.
    const bool is_chosen = size > 0 && parts[places[i]].item.mains.size() == 1 &&
                           parts[places[i]].item.mains[0]->launch.launcher != lint::Launcher::none;
    world.is_split[i] = is_chosen && place.nodes && *place.nodes > size;
    is_any = is_any || world.is_split[i];
  }
  world.is_whole = is_any && are_one(parts, places, nodes, all);
  if (world.is_whole) std::fill(world.is_split.begin(), world.is_split.end(), false);
  return world;
}

}  // namespace dts::convert
