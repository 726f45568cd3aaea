// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/number_list.hpp"
#include "tests/support/machine_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

namespace dts::tests {
namespace {

using PartKind = Part::Kind;

constexpr std::size_t k_most_parts = 20'000;  // a description that multiplies to more is an error
constexpr unsigned k_unnumbered = ~0U;

// In the order of Part::Kind.
constexpr std::array<const char*, 7> k_words{
    "package", "die", "group", "numa", "memory", "l3", "core"};
constexpr std::array<const char*, 7> k_options{"xN",
                                               "xN",
                                               "xN",
                                               "xN, memory SIZE, cache SIZE, os LIST",
                                               "SIZE, os N, subtype WORD",
                                               "xN, size SIZE",
                                               "xN, smt N, kind NAME, pus LIST"};

std::size_t index_of(const Line& line) {
  return static_cast<std::size_t>(std::find(k_words.begin(), k_words.end(), line.words[0].text) -
                                  k_words.begin());
}

// NUMA nodes may be within an L3, or L3s within a NUMA node.
bool may_be_in(PartKind part, PartKind around) {
  const bool cache_or_node = around == PartKind::numa || around == PartKind::l3;
  if (part == PartKind::package) return around == PartKind::group;
  if (part == PartKind::die) return around == PartKind::group || around == PartKind::package;
  return !cache_or_node || part != around;
}

// Calls `work` with each part of this kind, in order.
void each(std::vector<Part>& parts, PartKind kind, const std::function<void(Part&)>& work) {
  for (Part& part : parts) {
    if (part.kind == kind) work(part);
    each(part.inside, kind, work);
  }
}

void number_cores(std::vector<Part>& parts, bool by_core, std::set<unsigned>& taken) {
  unsigned next = 0, most = 0;
  const auto take = [&](unsigned& pu) {
    if (pu != k_unnumbered) return;
    while (taken.contains(next)) ++next;
    taken.insert(pu = next);
  };
  each(parts, PartKind::core, [&](Part& core) {
    most = std::max(most, static_cast<unsigned>(core.pus.size()));
    for (unsigned& pu : core.pus)
      if (by_core) take(pu);
  });
  for (std::size_t thread = 0; thread < most; ++thread)
    each(parts, PartKind::core, [&](Part& core) {
      if (thread < core.pus.size()) take(core.pus[thread]);
    });
}

}  // namespace

bool PartReader::is_part(const Line& line) {
  return index_of(line) < k_words.size();
}

void PartReader::read(const Line& line) {
  plans_.push_back(plan(line, nullptr));
}

void PartReader::read_option(Plan& plan, Arguments& arguments) {
  Part& part = plan.part;
  const bool numa = part.kind == PartKind::numa, core = part.kind == PartKind::core;
  if (numa && arguments.take("memory"))
    part.bytes = arguments.size();
  else if (numa && arguments.take("cache"))
    part.cache = arguments.size();
  else if ((numa || part.kind == PartKind::memory) && arguments.take("os"))
    plan.numbers = arguments.numbers(1023);
  else if (part.kind == PartKind::memory && arguments.take("subtype"))
    part.word = arguments.word("a subtype");
  else if (part.kind == PartKind::l3 && arguments.take("size"))
    part.bytes = arguments.size();
  else if (core && arguments.take("smt"))
    plan.threads = std::max(1U, arguments.number("threads", 64).value_or(1));
  else if (core && arguments.take("kind"))
    part.word = arguments.word("a kind");
  else if (core && arguments.take("pus"))
    plan.numbers = arguments.numbers(k_highest_cpu);
  else
    arguments.unknown(k_options[static_cast<std::size_t>(part.kind)]);
}

PartReader::Plan PartReader::plan(const Line& line, const Line* around) {
  Plan plan;
  plan.line = &line;
  if (!is_part(line)) {
    problems_.add(line,
                  line.words[0].column,
                  fmt::format("`{}` is not in a part of the machine", line.words[0].text),
                  "in these are: package, die, group, numa, memory, l3, core");
    return plan;
  }
  plan.part.kind = static_cast<PartKind>(index_of(line));
  const bool leaf = plan.part.kind == PartKind::core || plan.part.kind == PartKind::memory;
  if (around != nullptr && !may_be_in(plan.part.kind, static_cast<PartKind>(index_of(*around))))
    problems_.add(line,
                  line.words[0].column,
                  fmt::format("`{}` within `{}`", line.words[0].text, around->words[0].text),
                  "from the outside: package, die, numa or l3, core; group anywhere");
  Arguments arguments(line, problems_);
  plan.times = arguments.times();
  if (plan.part.kind == PartKind::memory) plan.part.bytes = arguments.size();
  while (arguments.more()) read_option(plan, arguments);
  if (leaf && !line.below.empty())
    problems_.add(line.below[0],
                  line.below[0].words[0].column,
                  fmt::format("nothing is within `{}`", line.words[0].text));
  else
    for (const Line& one : line.below) plan.inside.push_back(this->plan(one, &line));
  if (!leaf && std::none_of(plan.inside.begin(), plan.inside.end(), [](const Plan& one) {
        return one.part.kind != PartKind::memory;
      }))
    problems_.add(line, line.words[0].column, "no core is in it");
  return plan;
}

unsigned PartReader::next_number(Plan& plan) {
  const std::size_t at = plan.asked++;
  return at < plan.numbers.size() ? plan.numbers[at] : k_unnumbered;
}

void PartReader::make(Plan& plan, std::vector<Part>& into) {
  for (unsigned i = 0; i < plan.times && made_ <= k_most_parts; ++i) {
    if (++made_ > k_most_parts)
      problems_.add(*plan.line,
                    plan.line->words[0].column,
                    fmt::format("the machine has more than {} parts", k_most_parts));
    Part& part = into.emplace_back(plan.part);
    if (part.kind == PartKind::numa || part.kind == PartKind::memory) part.os = next_number(plan);
    for (unsigned thread = 0; part.kind == PartKind::core && thread < plan.threads; ++thread)
      part.pus.push_back(next_number(plan));
    // Not added in place, because the vector may move while the content is made.
    std::vector<Part> inside;
    for (Plan& one : plan.inside) make(one, inside);
    into.back().inside = std::move(inside);
  }
}

// Checks that a list has a number for each part made from its line, and that no number repeats.
void PartReader::check_numbers(const Plan& plan) {
  const bool core = plan.part.kind == PartKind::core;
  std::set<unsigned>& taken = core ? pus_ : numas_;
  for (const unsigned number : plan.numbers)
    if (!taken.insert(number).second)
      problems_.add(*plan.line,
                    plan.line->words[0].column,
                    fmt::format("{} {} comes twice", core ? "processor" : "NUMA node", number));
  for (const Plan& one : plan.inside) check_numbers(one);
}

std::vector<Part> PartReader::build(bool by_core) {
  std::vector<Part> parts;
  for (const Plan& plan : plans_) check_numbers(plan);
  for (Plan& plan : plans_) make(plan, parts);
  if (made_ > k_most_parts) return {};
  const std::function<void(const Plan&)> check_lists = [&](const Plan& plan) {
    if (!plan.numbers.empty() && plan.asked != plan.numbers.size())
      problems_.add(*plan.line,
                    plan.line->words[0].column,
                    fmt::format("{} numbers for {}", plan.numbers.size(), plan.asked));
    for (const Plan& one : plan.inside) check_lists(one);
  };
  for (const Plan& plan : plans_) check_lists(plan);
  unsigned next = 0;
  std::array<unsigned, k_words.size()> counts{};
  for (const PartKind kind :
       {PartKind::package, PartKind::die, PartKind::group, PartKind::l3, PartKind::core})
    each(parts, kind, [&](Part& part) { part.os = counts[static_cast<std::size_t>(kind)]++; });
  for (const PartKind kind : {PartKind::numa, PartKind::memory})
    each(parts, kind, [&](Part& part) {
      if (part.os != k_unnumbered) return;
      while (numas_.contains(next)) ++next;
      numas_.insert(part.os = next);
    });
  number_cores(parts, by_core, pus_);
  return parts;
}

}  // namespace dts::tests
