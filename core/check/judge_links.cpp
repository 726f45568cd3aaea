// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/counted.hpp"
#include "core/check/judge.hpp"
#include "core/check/spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace dts::check {
namespace {

// One of the two measures of a pair.
struct Quantity {
  const char* key;
  const char* unit;
  std::optional<double> Pair::*value;
  bool LinkVerdict::*fit;
};

constexpr Quantity k_quantities[] = {
    {"bandwidth", "B/s", &Pair::bandwidth, &LinkVerdict::bandwidth_fit},
    {"latency", "s", &Pair::latency, &LinkVerdict::latency_fit}};

// The value to judge; none if the link was disturbed, since it may then be as fast as any.
std::optional<double> known(const Pair& pair, const Quantity& quantity) {
  const auto value = pair.*quantity.value;
  return value && *value > 0 && !pair.disturbed ? value : std::nullopt;
}

using Name = std::pair<std::string, std::string>;

Name name_of(const Pair& pair) {
  return std::minmax(pair.a, pair.b);
}

class Links {
 public:
  Links(const Facts& facts, const Limits& limits, const Facts* baseline, const Quantity& quantity)
      : facts_(facts), limits_(limits), quantity_(quantity), row_(*find_measure(quantity.key)) {
    for (std::size_t i = 0; i < facts.pairs.size(); ++i)
      if (const auto value = known(facts.pairs[i], quantity)) {
        pairs_.push_back(i);
        values_.push_back(std::log(*value));
      }
    sample_ = std::make_unique<Sample>(values_);
    if (baseline == nullptr) return;
    began_ = baseline->began;
    std::vector<double> all;
    for (const Pair& pair : baseline->pairs)
      if (const auto value = known(pair, quantity)) {
        earlier_[name_of(pair)] = *value;
        all.push_back(*value);
      }
    if (!all.empty()) earlier_median_ = median(std::move(all));
  }

  [[nodiscard]] const Sample& sample() const { return *sample_; }

  // `samples`: those of all quantities, from which the noise is estimated.
  void judge(const std::vector<const Sample*>& samples, JointNoise& noise, Verdict& verdict) {
    for (std::size_t i = 0; i < pairs_.size(); ++i) judge_one(members(samples, i), noise, i);
    blame_nodes(verdict);
    for (const auto& [pair, reference] : slow_) {
      LinkVerdict& link = verdict.links[pair];
      link.*quantity_.fit = false;
      if (blamed_.count(facts_.pairs[pair].a) + blamed_.count(facts_.pairs[pair].b) > 0) continue;
      link.reason += (link.reason.empty() ? "" : "; ") + sentence("", value(pair), reference);
    }
  }

 private:
  struct Reference {
    double value = 0;
    const char* whose = "";
  };

  [[nodiscard]] double value(std::size_t pair) const {
    return *(facts_.pairs[pair].*quantity_.value);
  }

  // With two other pairs, a median means little: the better one is the reference.
  [[nodiscard]] double centre(std::size_t i) const {
    if (values_.size() != 3) return sample_->centre(i);
    const double one = values_[(i + 1) % 3];
    const double other = values_[(i + 2) % 3];
    return row_.better == Better::higher ? std::max(one, other) : std::min(one, other);
  }

  // Latency and bandwidth are disturbed together, and a few pairs alone say little about their
  // noise.
  [[nodiscard]] std::vector<JointNoise::Member> members(const std::vector<const Sample*>& samples,
                                                        std::size_t i) const {
    std::vector<JointNoise::Member> all;
    for (const Sample* one : samples)
      if (one->size() == values_.size()) all.push_back({one, i});  // measured for every pair
    return all;
  }

  void judge_one(const std::vector<JointNoise::Member>& members, JointNoise& noise, std::size_t i) {
    const std::size_t pair = pairs_[i];
    const bool is_few = values_.size() <= 3;
    const double noisy = is_few ? 0 : noise.limit(members);
    const auto is_slow = [&](double reference, double scale) {
      const double limit = allowed(row_.better, limits_.tolerance(row_) * scale);
      return worse_by(row_.better, value(pair), reference) >
             std::max(limit, std::min(noisy, k_no_noise));
    };
    if (values_.size() >= 3) {
      const double reference = std::exp(centre(i));
      if (is_slow(reference, is_few ? 2 : 1)) {
        slow_[pair] = {reference, "the other pairs'"};
        return;
      }
    }
    const auto own = earlier_.find(name_of(facts_.pairs[pair]));
    const auto then = own != earlier_.end() ? std::optional(own->second) : earlier_median_;
    if (then && is_slow(*then, 2)) slow_[pair] = {*then, "the baseline's"};
  }

  // If most pairs of a node are slow, the node is the cause of all of these.
  void blame_nodes(Verdict& verdict) {
    std::map<std::string, std::size_t> total;
    std::map<std::string, std::vector<std::size_t>> slow;
    for (const std::size_t pair : pairs_)
      for (const std::string* name : {&facts_.pairs[pair].a, &facts_.pairs[pair].b}) {
        ++total[*name];
        if (slow_.count(pair) > 0) slow[*name].push_back(pair);
      }
    for (NodeVerdict& node : verdict.nodes) {
      const auto& pairs = slow[node.name];
      if (pairs.size() < 2 || pairs.size() * 2 <= total[node.name]) continue;
      blamed_[node.name] = true;
      std::vector<double> values;
      std::vector<std::string> others;
      for (const std::size_t pair : pairs) {
        values.push_back(value(pair));
        const Pair& ends = facts_.pairs[pair];
        others.push_back(ends.a == node.name ? ends.b : ends.a);
      }
      blame(node,
            sentence(" to " + in_words(others), median(std::move(values)), slow_[pairs.front()]));
    }
  }

  [[nodiscard]] std::string sentence(const std::string& where,
                                     double value,
                                     const Reference& reference) const {
    return fmt::format("{}{} is {} {} ({})",
                       row_.label,
                       where,
                       ratio_in_words(row_.better, value, reference.value),
                       reference.whose,
                       of_quantity(value, reference.value, quantity_.unit));
  }

  const Facts& facts_;
  const Limits& limits_;
  const Quantity& quantity_;
  const Measure& row_;
  std::vector<std::size_t> pairs_;  // that have the quantity
  std::vector<double> values_;      // logarithms
  std::unique_ptr<Sample> sample_;  // of these
  std::map<Name, double> earlier_;
  std::optional<double> earlier_median_;
  std::string began_;
  std::map<std::size_t, Reference> slow_;
  std::map<std::string, bool> blamed_;
};

}  // namespace

void judge_links(const Facts& facts,
                 const Limits& limits,
                 const Facts* baseline,
                 Verdict& verdict) {
  std::vector<Links> all;
  std::vector<const Sample*> samples;
  JointNoise noise(limits.deviations);
  for (const Quantity& quantity : k_quantities)
    samples.push_back(&all.emplace_back(facts, limits, baseline, quantity).sample());
  for (Links& links : all) links.judge(samples, noise, verdict);
}

}  // namespace dts::check
