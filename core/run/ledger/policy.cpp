// SPDX-License-Identifier: Apache-2.0
#include "core/run/ledger/policy.hpp"

#include "core/base/text/names.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::run {
namespace {

constexpr unsigned k_most_crashes = 3;
constexpr unsigned k_most_launches = 2;
constexpr unsigned k_most_signals = 20;  // to rule out a signal that ends every attempt
constexpr unsigned k_most_ever = 1'000'000;

struct Row {
  Cause cause;
  Kind kind;
  Rule rule;
};

// `ended`: leaves no choice; decide() handles these.
constexpr Row k_rows[] = {
    {Cause::completed, Kind::ended, {}},
    {Cause::cancelled, Kind::ended, {}},
    {Cause::stopped, Kind::ended, {}},
    {Cause::no_restart, Kind::ended, {}},
    {Cause::wrong_ranks, Kind::ended, {}},
    {Cause::second_launcher, Kind::ended, {}},
    {Cause::wrong_binding, Kind::ended, {}},
    {Cause::fenced, Kind::ended, {}},
    {Cause::run_vanished, Kind::ended, {}},
    {Cause::run_damaged, Kind::ended, {}},
    {Cause::preempted, Kind::preempted, {Action::requeue}},
    {Cause::requeued, Kind::preempted, {Action::requeue}},
    {Cause::signalled, Kind::signalled, {Action::requeue, k_most_signals}},
    {Cause::node_failed, Kind::node_failed, {Action::requeue}},
    {Cause::agent_lost, Kind::node_failed, {Action::requeue}},
    {Cause::time_limit, Kind::timeout, {Action::requeue}},
    {Cause::rank_killed, Kind::crash, {Action::restart, k_most_crashes}},
    {Cause::launcher_died, Kind::crash, {Action::restart, k_most_crashes}},
    {Cause::out_of_memory, Kind::crash, {Action::restart, k_most_crashes}},
    {Cause::storage_error, Kind::crash, {Action::restart, k_most_crashes}},
    {Cause::comm_timeout, Kind::crash, {Action::restart, k_most_crashes}},
    {Cause::hang, Kind::crash, {Action::restart, k_most_crashes}},
    {Cause::gpu_unseen, Kind::crash, {Action::restart, k_most_crashes}},
    {Cause::gpu_error, Kind::crash, {Action::requeue, k_most_crashes}},
    {Cause::launch_failed, Kind::launch, {Action::restart, k_most_launches}},
    {Cause::rendezvous, Kind::launch, {Action::restart, k_most_launches}},
    {Cause::checkpointed, Kind::checkpointed, {Action::restart}},
    {Cause::user_exit, Kind::exit, {Action::stop}},
    {Cause::no_program, Kind::exit, {Action::stop}},
    {Cause::set_up_failed, Kind::exit, {Action::stop}},
    {Cause::corruption, Kind::exit, {Action::stop}},
    {Cause::damaged, Kind::damaged, {Action::stop}},
    {Cause::disk_full, Kind::disk, {Action::stop}},
};

constexpr Names<Kind, 11> k_kinds{{{Kind::preempted, "preempted"},
                                   {Kind::signalled, "signalled"},
                                   {Kind::node_failed, "node_failed"},
                                   {Kind::timeout, "timeout"},
                                   {Kind::crash, "crash"},
                                   {Kind::launch, "launch"},
                                   {Kind::checkpointed, "checkpointed"},
                                   {Kind::exit, "exit"},
                                   {Kind::damaged, "damaged"},
                                   {Kind::disk, "disk"},
                                   {Kind::ended, "ended"}}};

const Row& row(Cause cause) {
  return *std::find_if(
      std::begin(k_rows), std::end(k_rows), [&](const Row& one) { return one.cause == cause; });
}

// The causes denoted by the word before `=`: one cause, or all of a kind.
std::vector<Cause> causes_of(std::string_view word) {
  std::vector<Cause> causes;
  for (const Row& one : k_rows)
    if (one.kind != Kind::ended && (word == to_string(one.cause) || word == to_string(one.kind)))
      causes.push_back(one.cause);
  // "preempted" and "node_failed" are each both a cause and a kind: they mean the kind, which
  // includes the cause.
  return causes;
}

std::vector<std::string> known_words() {
  std::vector<std::string> words;
  for (const Row& one : k_rows) {
    if (one.kind == Kind::ended) continue;
    for (const char* word : {to_string(one.kind), to_string(one.cause)})
      if (std::find(words.begin(), words.end(), word) == words.end()) words.emplace_back(word);
  }
  return words;
}

std::optional<Action> choice_of(std::string_view word) {
  const auto action = action_from(word);
  const bool none = action == Action::done || action == Action::wait;  // users cannot choose these
  return none ? std::nullopt : action;
}

Diagnostic problem(std::string message, std::string hint) {
  return {"--on", std::move(message), std::move(hint)};
}

// A number such as "5"; nullopt for "unlimited".
std::optional<unsigned> read_budget(std::string_view word, Diagnostics& problems) {
  if (word == "unlimited") return std::nullopt;
  const auto number = parse_number(word);
  if (!number || *number > k_most_ever)
    problems.push_back(problem(fmt::format("`{}` is not a number of times", word),
                               fmt::format("0 to {}, or unlimited", k_most_ever)));
  return static_cast<unsigned>(number.value_or(0));
}

void read_item(std::string_view item, Policy& policy, Diagnostics& problems) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos)
    return problems.push_back(
        problem(fmt::format("`{}` is not CAUSE=ACTION", item), "for example crash=restart:5"));
  const std::string_view left = trim(item.substr(0, equals));
  std::string_view right = trim(item.substr(equals + 1));
  const std::size_t colon = right.find(':');
  std::optional<unsigned> most;
  if (colon != std::string_view::npos) {
    most = read_budget(right.substr(colon + 1), problems);
    right = right.substr(0, colon);
  }
  const std::vector<Cause> causes = causes_of(left);
  if (causes.empty()) {
    const auto near = nearest(left, known_words());
    problems.push_back(problem(fmt::format("`{}` is not a cause with a choice of actions", left),
                               near ? fmt::format("did you mean `{}`?", *near)
                                    : "known are: " + join(known_words(), ", ")));
  }
  const auto action = choice_of(right);
  if (!action)
    return problems.push_back(
        problem(fmt::format("`{}` is not an action", right), "restart, requeue, resubmit or stop"));
  for (const Cause cause : causes) {
    Rule& rule = policy.rules[cause];
    rule.action = *action;
    if (colon == std::string_view::npos) continue;
    rule.most = most;
    rule.chosen = true;
  }
}

}  // namespace

Kind kind_of(Cause cause) {
  return row(cause).kind;
}

const char* to_string(Kind kind) {
  return name_of(k_kinds, kind);
}

Rule Policy::rule(Cause cause) const {
  const auto found = rules.find(cause);
  return found == rules.end() ? Rule{} : found->second;
}

Policy default_policy() {
  Policy policy;
  for (const Row& one : k_rows)
    if (one.kind != Kind::ended) policy.rules[one.cause] = one.rule;
  return policy;
}

tl::expected<Policy, Diagnostics> parse_policy(std::string_view on) {
  Policy policy = default_policy();
  Diagnostics problems;
  if (!on.empty())
    for (const std::string& item : split(on, ',')) read_item(trim(item), policy, problems);
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  return policy;
}

}  // namespace dts::run
