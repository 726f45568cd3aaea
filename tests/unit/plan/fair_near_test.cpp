// SPDX-License-Identifier: Apache-2.0
// Nobody can give the rank with the fewest near cores more of them than bind_node() does: against a
// bound that knows nothing of how it does that.
#include "core/plan/binding/binding.hpp"
#include "core/topo/hwloc/load.hpp"
#include "tests/support/described.hpp"
#include "tests/support/machine_random.hpp"
#include "tests/support/recorded.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/plan/grouping_bound.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <set>

namespace dts::plan {
namespace {

using topo::NodeTopology;

constexpr unsigned k_machines = tests::k_sanitized ? 30 : 300;
constexpr unsigned k_every = tests::k_sanitized ? 3 : 1;  // of the recorded machines
constexpr unsigned k_small = tests::k_sanitized ? 60 : 600;

std::size_t fewest_near(const NodeTopology& node, const NodeBinding& binding) {
  std::size_t fewest = node.cores.size();
  for (const RankBinding& rank : binding.ranks) {
    std::size_t count = 0;
    for (const auto* list : {&rank.home, &rank.annex})
      for (const unsigned core : *list) count += is_near(node, rank.gpus, core) ? 1 : 0;
    fewest = std::min(fewest, count);
  }
  return fewest;
}

struct Tally {
  unsigned bindings = 0, contested = 0;  // of these, where somebody has to have fewer
  unsigned open = 0;                     // where there are too many ways to choose GPUs
};

// No other way to choose the GPUs of ranks brings them nearer each other, or as near and gives the
// rank with the fewest near cores more of them.
void check_gpus(const NodeTopology& node,
                const Groups& gpus,
                std::size_t each,
                std::size_t fewest,
                Tally& tally) {
  if (node.gpus.empty()) return;
  Groupings groupings(node, gpus.size(), each);
  if (gpus.size() <= node.gpus.size()) REQUIRE(apart(node, gpus) == groupings.least_apart());
  const auto best = groupings.most_near(fewest);
  tally.open += best ? 0 : 1;
  if (best) REQUIRE(fewest == *best);
}

void check(const NodeTopology& node, BindRequest request, Tally& tally) {
  const std::size_t cores = node.cores.size();
  if (request.ranks == 0) return;
  request.gpus.resize(node.gpus.size());
  std::iota(request.gpus.begin(), request.gpus.end(), 0U);
  const auto binding = bind_node(node, request);
  REQUIRE(binding);
  Groups gpus;
  for (const RankBinding& rank : binding->ranks) gpus.push_back(rank.gpus);
  std::size_t each = cores / request.ranks;
  if (request.cores_per_rank > 0) each = std::min<std::size_t>(each, request.cores_per_rank);
  CAPTURE(request.ranks);
  CAPTURE(request.cores_per_rank);
  const Sorts sorts(node, gpus);
  const std::size_t best =
      request.ranks > cores ? best_crowded(sorts, request.ranks, cores) : best_fewest(sorts, each);
  REQUIRE(fewest_near(node, *binding) == best);
  ++tally.bindings;
  tally.contested += best < std::max<std::size_t>(1, each) ? 1 : 0;
  check_gpus(node, gpus, std::max<std::size_t>(1, each), best, tally);
}

void check_all(const NodeTopology& node, Tally& tally) {
  const auto gpus = static_cast<unsigned>(node.gpus.size());
  const auto cores = static_cast<unsigned>(node.cores.size());
  for (const unsigned ranks : std::set<unsigned>{std::min(cores + 1, 64U),
                                                 std::min(2 * cores, 64U),
                                                 1,
                                                 2,
                                                 3,
                                                 gpus / 4,
                                                 gpus / 2,
                                                 gpus - gpus / 3,
                                                 gpus,
                                                 gpus + 1,
                                                 2 * gpus,
                                                 3 * gpus}) {
    BindRequest request;
    request.ranks = ranks;
    check(node, request, tally);
    request.cores_per_rank = 1 + ranks % 3;
    if (std::size_t{request.cores_per_rank} * ranks <= node.cores.size())
      check(node, request, tally);
  }
}

}  // namespace

namespace {

// Machines small enough to try every way.
class SmallMachine {
 public:
  explicit SmallMachine(unsigned seed) : random_(seed) {
    const unsigned numas = 1 + below(4), cores = 1 + below(6);
    for (unsigned core = 0; core < cores; ++core)
      node_.cores.push_back({0, below(numas), {}, {core}, below(6) == 0 ? 1U : 0U});
    for (unsigned gpu = 0; gpu < 4; ++gpu) {
      node_.gpus.emplace_back().package = 0;
      if (below(8) > 0) node_.gpus.back().numa = below(numas);
    }
    gpus_.resize(1 + below(cores > 3 ? 3 : 5));
    for (auto& of_rank : gpus_)
      for (unsigned k = 1 + below(2); k > 0; --k) of_rank.push_back(below(4));
  }

  [[nodiscard]] bool crowded() const { return gpus_.size() > node_.cores.size(); }

  std::size_t by_bound() {
    const std::size_t ranks = gpus_.size(), cores = node_.cores.size();
    const Sorts sorts(node_, gpus_);
    return crowded() ? best_crowded(sorts, ranks, cores) : best_fewest(sorts, cores / ranks);
  }

  std::size_t by_trying() {
    has_.assign(gpus_.size(), 0);
    near_.assign(gpus_.size(), 0);
    users_.assign(node_.cores.size(), 0);
    best_ = 0;
    if (crowded())
      give_rank(0);
    else
      give_core(0);
    return best_;
  }

 private:
  unsigned below(unsigned limit) { return static_cast<unsigned>(random_() % limit); }

  void give(std::size_t rank, std::size_t core, const std::function<void()>& then) {
    const std::size_t more = is_near(node_, gpus_[rank], core) ? 1 : 0;
    ++has_[rank];
    ++users_[core];
    near_[rank] += more;
    then();
    --has_[rank];
    --users_[core];
    near_[rank] -= more;
  }

  // Every core to some rank: nobody has two more than another, since all have `each` at least.
  void give_core(std::size_t core) {
    const std::size_t each = node_.cores.size() / gpus_.size();
    if (core == node_.cores.size()) return look(has_, each);
    for (std::size_t rank = 0; rank < gpus_.size(); ++rank)
      if (has_[rank] <= each) give(rank, core, [&] { give_core(core + 1); });
  }

  // Every rank some core.
  void give_rank(std::size_t rank) {
    const std::size_t each = gpus_.size() / node_.cores.size();
    if (rank == gpus_.size()) return look(users_, each);
    for (std::size_t core = 0; core < node_.cores.size(); ++core)
      if (users_[core] <= each) give(rank, core, [&] { give_rank(rank + 1); });
  }

  void look(const std::vector<std::size_t>& counts, std::size_t each) {
    if (*std::min_element(counts.begin(), counts.end()) < each) return;
    best_ = std::max(best_, *std::min_element(near_.begin(), near_.end()));
  }

  std::mt19937 random_;
  NodeTopology node_;
  std::vector<std::vector<unsigned>> gpus_;
  std::vector<std::size_t> has_, near_, users_;
  std::size_t best_ = 0;
};

}  // namespace

TEST_CASE("the bound on near cores is what trying every way gives") {
  unsigned crowded = 0;
  for (unsigned seed = 0; seed < k_small; ++seed) {
    CAPTURE(seed);
    SmallMachine small(seed);
    REQUIRE(small.by_bound() == small.by_trying());
    crowded += small.crowded() ? 1 : 0;
  }
  CHECK(crowded > k_small / 20);
}

TEST_CASE(
    "described and recorded machines: the fewest near cores of a rank are the most there can be") {
  Tally tally;
  for (const std::string& name : tests::machine_names()) {
    CAPTURE(name);
    const auto node = tests::load_machine(name);
    REQUIRE(node);
    check_all(*node, tally);
  }
  const std::vector<std::string> files = tests::recorded_files();
  for (std::size_t i = 0; i < files.size(); i += k_every) {
    CAPTURE(files[i]);
    const auto node = topo::load_xml(files[i]);
    REQUIRE(node);
    check_all(*node, tally);
  }
  MESSAGE(tally.bindings << " bindings, " << tally.contested << " with less than all near, "
                         << tally.open << " with too many ways to choose GPUs");
  CHECK(tally.open == 0);
  CHECK(tally.bindings > 300 / k_every);
  CHECK(tally.contested > 50 / k_every);
}

TEST_CASE("random machines: the fewest near cores of a rank are the most there can be") {
  Tally tally;
  for (unsigned seed = 0; seed < k_machines; ++seed) {
    const std::string text = tests::random_machine(seed);
    CAPTURE(text);
    const auto machine = tests::parse_machine(text, "random");
    if (!machine) FAIL(machine.error().message);
    const auto node = tests::load_machine(*machine);
    REQUIRE(node);
    check_all(*node, tally);
  }
  MESSAGE(tally.bindings << " bindings, " << tally.contested << " with less than all near, "
                         << tally.open << " with too many ways to choose GPUs");
  CHECK(tally.open == 0);
  CHECK(tally.bindings > 5 * k_machines);
  CHECK(tally.contested > k_machines);
}

}  // namespace dts::plan
