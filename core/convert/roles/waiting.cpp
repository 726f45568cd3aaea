// SPDX-License-Identifier: Apache-2.0
#include "core/convert/roles/waiting.hpp"

#include "core/convert/lines/tools.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace dts::convert {
namespace {

// What `wait` waits for: $!, variables, or everything.
bool waits_for_everything(const Item& item) {
  return std::any_of(item.runs.begin(), item.runs.end(), [](const lint::Run* run) {
    return run->name() == "wait" && run->words.size() == 1;
  });
}

class Watcher {
 public:
  Watcher(const std::vector<Part>& parts, const std::vector<std::size_t>& places, bool acts_there)
      : parts_(parts), made_{std::vector<bool>(places.size())}, acts_there_(acts_there) {}

  std::optional<Waiting> run() {
    for (const Part& part : parts_) {
      const Item& item = part.item;
      if (part.role == Role::program && !program(item)) return std::nullopt;
      are_beside_ = are_beside_ || (acts_there_ && !has_waited_ && !open_.empty() &&
                                    is_action(part) && !waits(item));
      if (waits(item)) wait(item);
      kill(item);
      if (next_ > 0 && item.source.find("$!") != std::string::npos)
        for (const auto* all : {&item.sets.variables, &item.sets.arrays})
          for (const std::string& name : *all) started_[name].push_back(next_ - 1);
    }
    return are_beside_ ? std::optional(std::move(made_)) : std::nullopt;
  }

 private:
  // False: it starts after others have been waited for.
  bool program(const Item& item) {
    are_beside_ = are_beside_ || !open_.empty();
    if (has_waited_ && !item.mains.empty()) return false;
    if (item.statement->background)
      open_.push_back(next_);
    else
      made_.is_waited_for[next_] = true;
    ++next_;
    return true;
  }

  void wait(const Item& item) {
    has_waited_ = has_waited_ || !open_.empty();
    for (const std::size_t one : waits_for_everything(item) ? open_ : named_in(item))
      if (killed_.count(one) == 0) made_.is_waited_for[one] = true;
  }

  // What the script ends is a service, also where a `wait` for its end follows.
  void kill(const Item& item) {
    const bool kills = std::any_of(item.runs.begin(), item.runs.end(), [](const lint::Run* run) {
      return run->name() == "kill" && run->words.size() > 1 && run->words[1].value.text != "-0" &&
             !run->around.is_conditional && !run->around.is_in_function;
    });
    if (!kills) return;
    const std::vector<std::size_t> named = named_in(item);
    killed_.insert(named.begin(), named.end());
  }

  // By the variables of their $!, or as $! itself.
  [[nodiscard]] std::vector<std::size_t> named_in(const Item& item) const {
    std::vector<std::size_t> named;
    for (const auto& [name, programs] : started_)
      if (item.used.count(name) > 0) named.insert(named.end(), programs.begin(), programs.end());
    if (item.source.find("$!") != std::string::npos && !open_.empty())
      named.push_back(open_.back());
    return named;
  }

  const std::vector<Part>& parts_;
  Waiting made_;
  bool acts_there_;
  std::map<std::string, std::vector<std::size_t>> started_;  // by the variables of their $!
  std::vector<std::size_t> open_;                            // in the background
  std::set<std::size_t> killed_;
  std::size_t next_ = 0;
  bool are_beside_ = false;
  bool has_waited_ = false;
};

}  // namespace

bool is_action(const Part& part) {
  return part.role == Role::around && part.verdict.kind == Verdict::Kind::kept &&
         !part.item.only_sets();
}

std::optional<Waiting> waiting_in(const std::vector<Part>& parts,
                                  const std::vector<std::size_t>& places,
                                  bool acts_there) {
  return Watcher(parts, places, acts_there).run();
}

std::size_t end_beside(const std::vector<Part>& parts, const std::vector<std::size_t>& places) {
  if (places.empty()) return 0;
  std::size_t end = places.back() + 1;
  bool is_open = false;
  for (std::size_t i = 0; i < end; ++i) {
    const bool starts = parts[i].role == Role::program && leaves_running(parts[i].item);
    is_open = (is_open && !waits(parts[i].item)) || starts;
  }
  if (!is_open) return end;
  const std::size_t least = end;
  while (end < parts.size() && !waits(parts[end].item)) ++end;
  // With the job the services end anyway; their end is not to hide how the last program ended.
  if (end == parts.size())
    while (end > least && only_ends_services(parts[end - 1].item)) --end;
  return end;
}

void keep_pauses(std::vector<Part>& parts, std::size_t end) {
  bool is_behind = false;  // something has been started that may need the time
  for (std::size_t i = 0; i < end; ++i) {
    Part& part = parts[i];
    const auto& runs = part.item.runs;
    if (part.role != Role::around) continue;
    const bool is_pause = simple_command(*part.item.statement) != nullptr && runs.size() == 1 &&
                          runs[0]->name() == "sleep";
    if (is_pause && is_behind) part.verdict = {};
    is_behind = is_behind || (part.verdict.kind == Verdict::Kind::kept &&
                              (part.item.statement->background ||
                               std::any_of(runs.begin(), runs.end(), [](const lint::Run* run) {
                                 return does_work(*run);
                               })));
  }
}

void keep_waits(std::vector<Part>& parts, std::size_t end) {
  bool is_running = false;  // a line of the set-up in the background
  for (std::size_t i = 0; i < end; ++i) {
    Part& part = parts[i];
    if (part.role == Role::definition) continue;
    const auto& runs = part.item.runs;
    const auto is_beside = [](const lint::Run* run) { return run->around.is_background; };
    const bool starts =
        part.item.statement->background || std::any_of(runs.begin(), runs.end(), is_beside);
    if (is_running && waits(part.item) && part.verdict.kind == Verdict::Kind::unnecessary)
      part.verdict = {};
    is_running = part.role == Role::around && !waits(part.item) &&
                 (is_running || (starts && part.verdict.kind == Verdict::Kind::kept));
  }
}

}  // namespace dts::convert
