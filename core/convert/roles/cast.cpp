// SPDX-License-Identifier: Apache-2.0
#include "core/convert/roles/cast.hpp"

#include "core/base/text/text.hpp"
#include "core/convert/roles/beside.hpp"
#include "core/convert/roles/beside_lines.hpp"
#include "core/convert/roles/sequence.hpp"
#include "core/convert/roles/signature.hpp"
#include "core/convert/roles/sizes.hpp"
#include "core/convert/roles/waiting.hpp"
#include "core/convert/roles/world.hpp"
#include "core/spec/parts.hpp"

#include <algorithm>
#include <numeric>

namespace dts::convert {
namespace {

class Casting {
 public:
  Casting(const std::vector<Part>& parts,
          const lint::Job& job,
          const Resolver& resolver,
          Known& known)
      : parts_(parts),
        job_(job),
        resolver_(resolver),
        known_(known),
        size_(std::max<std::uint64_t>(job.nodes.value_or(1), 1)),
        values_(size_, known) {}

  Cast run() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].role == Role::program) {
        places_.push_back(i);
        cast_.nodes.push_back(nodes_of(parts_[i].item));
        said_.push_back(place_of(parts_[i].item, resolver_, known_));
      }
      follow(parts_[i].item);
    }
    cast_.end = end_beside(parts_, places_);
    const World world = world_of(parts_, places_, cast_.nodes, said_);
    cast_.is_split = world.is_split;
    std::vector<std::size_t> all(places_.size());
    std::iota(all.begin(), all.end(), 0U);
    if (world.is_whole) {
      cast_.roles.push_back({"", NodeRange{0, places_.size()}, all, true, false, true});
      return std::move(cast_);
    }
    if (const auto end =
            can_be_sequence() ? end_of_sequence(parts_, places_, job_.is_array) : std::nullopt) {
      cast_.roles.push_back({"", NodeRange{0, 1}, all});
      cast_.is_sequence = true;
      cast_.end = *end;
      return std::move(cast_);
    }
    const bool acts_there = places_.size() == 1 && cast_.nodes[0] == NodeRange{0, 1} &&
                            is_one_task(parts_[places_[0]].item);
    const auto waiting = waiting_in(parts_, places_, acts_there);
    for (std::size_t i = 0; waiting && numbers_ranks(parts_) && i < places_.size(); ++i)
      cast_.is_split[i] = cast_.is_split[i] || is_launched(parts_[places_[i]].item);
    const bool is_split = std::count(cast_.is_split.begin(), cast_.is_split.end(), true) > 0;
    if (waiting && !is_split && cast_beside(parts_, places_, job_, resolver_, *waiting, cast_))
      return std::move(cast_);
    if (!waiting || acts_on_turns(parts_, places_) || !make_roles() || !fit_on_one_node() ||
        !settle_ends(*waiting) || is_split)
      cast_.roles.clear();
    std::sort(cast_.roles.begin(), cast_.roles.end(), [](const Troupe& a, const Troupe& b) {
      return a.nodes.begin < b.nodes.begin;
    });
    name_roles();
    if (cast_.has_roles()) find_addresses();
    return std::move(cast_);
  }

 private:
  void follow(const Item& item) {
    convert::follow(*item.statement, known_, values_);
    for (const auto* all : {&item.sets.variables, &item.sets.arrays})
      for (const std::string& name : *all) {
        const auto nodes = values_.nodes_of(name);
        const auto [before, is_new] = held_.emplace(name, nodes);
        if (!is_new && before->second != nodes) before->second = std::nullopt;
      }
  }

  // Without a launcher a program runs on the first node, where the batch script does.
  [[nodiscard]] std::optional<NodeRange> nodes_of(const Item& item) const {
    const shell::Command* command = command_of_program(item);
    if (!is_launched(item)) return NodeRange{0, 1};
    if (command == nullptr || item.mains.size() != 1) return std::nullopt;
    const lint::Run& run = *item.mains[0];
    const lint::LaunchOption* nodes = run.launch.option("nodes");
    const auto count = nodes == nullptr ? std::nullopt : number_of(nodes->value, resolver_);
    if (const auto own = own_nodes_of(*command, begin_of_program(run)))
      return values_.nodes_of(*own, nodes == nullptr && is_one_task(item) ? 1 : count);
    if (run.launch.option("nodelist") != nullptr || run.launch.option("relative") != nullptr ||
        run.launch.has_unknown_options)
      return std::nullopt;
    const bool is_all = nodes == nullptr || count == size_;
    return is_all ? std::optional(NodeRange{0, size_}) : std::nullopt;
  }

  // False: some programs share nodes with others, but not all.
  bool make_roles() {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (!cast_.nodes[i]) return false;
      const NodeRange nodes = *cast_.nodes[i];
      const auto same = std::find_if(cast_.roles.begin(),
                                     cast_.roles.end(),
                                     [&](const Troupe& one) { return one.nodes == nodes; });
      if (same != cast_.roles.end() && !same->are_alike) {
        same->programs.push_back(i);
        continue;
      }
      if (std::any_of(cast_.roles.begin(), cast_.roles.end(), [&](const Troupe& one) {
            return one.nodes.meets(nodes);
          }))
        return false;
      if (!cast_.roles.empty() && is_one_more(cast_.roles.back(), i)) {
        Troupe& role = cast_.roles.back();
        role.nodes.end = nodes.end;
        role.are_alike = true;
        role.programs.push_back(i);
        continue;
      }
      cast_.roles.push_back({"", nodes, {i}});
    }
    return !cast_.roles.empty() && cast_.roles.size() <= spec::k_most_parts;
  }

  // The next turn of a loop over nodes, on the next one.
  [[nodiscard]] bool is_one_more(const Troupe& role, std::size_t at) const {
    const std::size_t before = role.programs.back();
    const bool is_next = cast_.nodes[before]->size() == 1 && cast_.nodes[at]->size() == 1 &&
                         role.nodes.end == cast_.nodes[at]->begin && before + 1 == at &&
                         (role.programs.size() == 1 || role.are_alike);
    if (!is_next) return false;
    const auto [words, names] = signature_of(parts_[places_[before]].item, {});
    if (words != signature_of(parts_[places_[at]].item, {}).first) return false;
    for (std::size_t i = places_[before] + 1; i < places_[at]; ++i)
      for (const auto* all : {&parts_[i].item.sets.variables, &parts_[i].item.sets.arrays})
        for (const std::string& name : *all)
          if (names.count(name) > 0) return false;
    return true;
  }

  [[nodiscard]] bool can_be_sequence() const {
    return size_ == 1 && std::all_of(places_.begin(), places_.end(), [this](std::size_t at) {
             const Item& item = parts_[at].item;
             return !item.statement->background && is_one_task(item) &&
                    (job_.tasks_on_node() == 1U || !has_gpus_of_its_own(item, job_));
           });
  }

  // Several programs of one role are run by one shell, as one rank.
  [[nodiscard]] bool fit_on_one_node() {
    return std::all_of(cast_.roles.begin(), cast_.roles.end(), [this](const Troupe& role) {
      if (role.programs.size() < 2 || role.are_alike) return true;
      std::size_t with_gpus = 0;
      std::vector<const Item*> items;
      for (const std::size_t one : role.programs) {
        const Item& item = parts_[places_[one]].item;
        if (!is_one_task(item)) return false;
        with_gpus += has_gpus_of_its_own(item, job_) ? 1 : 0;
        items.push_back(&item);
      }
      cast_.lacks_room = lacks_room(items, job_, resolver_);
      if (cast_.lacks_room) return false;
      return role.nodes.size() == 1 && with_gpus < 2;
    });
  }

  [[nodiscard]] bool is_one_task(const Item& item) const {
    return std::all_of(item.mains.begin(), item.mains.end(), [this](const lint::Run* run) {
      const lint::Launch& launch = run->launch;
      if (launch.launcher == lint::Launcher::none) return !launch.starts_processes;
      if (launch.launcher != lint::Launcher::srun) return false;
      for (const char* name : {"ntasks", "ntasks-per-node"})
        if (const lint::LaunchOption* one = launch.option(name))
          return number_of(one->value, resolver_) == 1;
      return !job_.has_many_tasks() || job_.tasks_on_node() == 1;
    });
  }

  // The batch script goes on on its node once all programs have been started.
  [[nodiscard]] bool goes_on() const {
    for (std::size_t i = places_.back() + 1; i < cast_.end; ++i)
      if (is_action(parts_[i])) return true;
    return false;
  }

  struct Background {
    std::size_t all = 0;
    std::size_t waited = 0;  // those that the script waits for
  };

  [[nodiscard]] Background background_of(const Troupe& role, const Waiting& waiting) const {
    Background made;
    for (const std::size_t one : role.programs) {
      if (!parts_[places_[one]].item.statement->background) continue;
      ++made.all;
      made.waited += waiting.is_waited_for[one] ? 1 : 0;
    }
    return made;
  }

  // False: the script waits only for some of the role's programs in the background, or the last one
  // outlives those in the foreground.
  bool settle_end(Troupe& role, const Waiting& waiting) {
    const Background background = background_of(role, waiting);
    const bool is_home = role.nodes == NodeRange{0, 1};
    const bool goes_on = is_home && this->goes_on();
    const bool has_foreground = goes_on || background.all < role.programs.size();
    const bool ends_by_itself =
        goes_on || !parts_[places_[role.programs.back()]].item.statement->background;
    if (has_foreground && (!ends_by_itself || role.are_alike)) return false;
    if (background.waited > 0 && background.waited < background.all) return false;
    if (has_foreground && is_home) cast_.waits_at_end = background.waited > 0;
    const bool only_serves = background.all == role.programs.size() && background.waited == 0;
    if (goes_on && only_serves) serving_ = &role;
    role.until_others_end = !goes_on && only_serves;
    return true;
  }

  // False: settle_end() fails for a role, or no role ends by itself.
  bool settle_ends(const Waiting& waiting) {
    const auto settles = [&](Troupe& role) { return settle_end(role, waiting); };
    if (!std::all_of(cast_.roles.begin(), cast_.roles.end(), settles)) return false;
    const auto ends = std::count_if(cast_.roles.begin(), cast_.roles.end(), [](const Troupe& one) {
      return !one.until_others_end;
    });
    // Behind lines of its own, the script waits for other roles, which its services outlive.
    if (serving_ != nullptr && ends > 1) cast_.waits_at_end = serving_->until_others_end = true;
    return ends > 0;
  }

  void name_roles() {
    Names verbs;
    bool are_names = true;
    for (Troupe& role : cast_.roles) {
      const Item& first = parts_[places_[role.programs.front()]].item;
      role.name = first.mains.empty() ? "" : verb_of(*first.mains.front());
      are_names = are_names && is_safe_name(role.name) && role.name.find('.') == std::string::npos;
      verbs.insert(spec::variable_name(role.name));
    }
    if (are_names && verbs.size() == cast_.roles.size()) return;
    std::size_t others = 0;
    for (Troupe& role : cast_.roles) {
      if (role.nodes == NodeRange{0, 1})
        role.name = "head";
      else
        role.name = ++others == 1 ? "workers" : "workers-" + std::to_string(others);
    }
  }

  void find_addresses() {
    for (const auto& [name, nodes] : held_)
      for (const Troupe& role : cast_.roles) {
        const NodeRange first{role.nodes.begin, role.nodes.begin + 1};
        if (!nodes || !nodes->meets(first)) continue;
        const std::string address = "DTSUBMIT_ROLE_" + spec::variable_name(role.name) + "_ADDR";
        if (*nodes == first) cast_.addresses[name] = address;
        if (values_.nodes_of_array(name))
          cast_.addresses[name + "[" + std::to_string(first.begin - nodes->begin) + "]"] = address;
      }
  }

  const std::vector<Part>& parts_;
  const lint::Job& job_;
  const Resolver& resolver_;
  Known& known_;
  std::size_t size_;
  NodeValues values_;
  Cast cast_;
  Troupe* serving_ = nullptr;                             // home() of services only
  std::vector<std::size_t> places_;                       // of the programs in parts_
  std::vector<Place> said_;                               // what these programs say of theirs
  std::map<std::string, std::optional<NodeRange>> held_;  // nullopt: not always the same nodes
};

}  // namespace

const Troupe* Cast::home() const {
  if (are_beside) return nullptr;
  const auto found = std::find_if(roles.begin(), roles.end(), [](const Troupe& one) {
    return one.nodes == NodeRange{0, 1};
  });
  return found == roles.end() ? nullptr : &*found;
}

Cast cast_of(const std::vector<Part>& parts,
             const lint::Job& job,
             const Resolver& resolver,
             Known& known) {
  return Casting(parts, job, resolver, known).run();
}

}  // namespace dts::convert
