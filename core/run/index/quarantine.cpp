// SPDX-License-Identifier: Apache-2.0
#include "core/run/index/quarantine.hpp"

#include "core/base/text/json_text.hpp"
#include "core/base/text/units.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace dts::run {
namespace {

using nlohmann::ordered_json;
using std::chrono::hours;

constexpr hours k_pair{24};  // two lighter strikes within this time confirm each other
constexpr hours k_first_term{24};
constexpr unsigned k_most_doublings = 3;
constexpr hours k_memory{30 * 24};

// True for a cause that is proved by a single strike.
bool is_fact(const std::string& cause) {
  return cause == k_preflight_strike || cause == k_check_strike ||
         cause == to_string(Cause::gpu_error) || cause == to_string(Cause::corruption);
}

// The history of one node, strike by strike.
class NodeRecord {
 public:
  void add(const Strike& strike, WallTime time) {
    if (strike.cause == k_released) {
      *this = NodeRecord();
      return;
    }
    if (time - last_strike_ > k_memory) *this = NodeRecord();
    last_strike_ = time;
    if (time < until_) return;  // already in quarantine
    if (!is_fact(strike.cause) && !is_second(strike, time)) {
      light_ = strike;
      light_time_ = time;
      return;
    }
    ++times_;
    since_ = time;
    until_ = time + k_first_term * (1U << std::min(times_ - 1, k_most_doublings));
    by_ = strike;
    light_.reset();
  }

  [[nodiscard]] std::optional<Quarantined> at(WallTime now) const {
    if (now >= until_) return std::nullopt;
    return Quarantined{by_.node, since_, until_, by_, times_};
  }

 private:
  [[nodiscard]] bool is_second(const Strike& strike, WallTime time) const {
    return light_ && light_->run != strike.run && time - light_time_ <= k_pair;
  }

  unsigned times_ = 0;
  WallTime last_strike_{};
  WallTime since_{};
  WallTime until_{};
  Strike by_;
  std::optional<Strike> light_;  // a strike that is not enough by itself
  WallTime light_time_{};
};

// A node's clock may have been ahead, which must not prolong anything. nullopt if not a time.
std::optional<WallTime> time_of(const Strike& strike, WallTime now) {
  const auto time = parse_utc(strike.time);
  return time ? std::optional(std::min<WallTime>(*time, now)) : std::nullopt;
}

}  // namespace

std::string to_line(const Strike& strike) {
  ordered_json j{{"time", strike.time}, {"node", strike.node}, {"cause", strike.cause}};
  if (!strike.run.empty()) j["run"] = strike.run;
  if (strike.attempt != 0) j["attempt"] = strike.attempt;
  if (!strike.detail.empty()) j["detail"] = strike.detail;
  return json_line(j);
}

namespace {

std::optional<Strike> parse_strike(const std::string& line) {
  const ordered_json j = nlohmann::json::parse(line, nullptr, false);
  if (!j.is_object()) return std::nullopt;
  const auto text = [&](const char* key) {
    const auto found = j.find(key);
    return found != j.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  Strike strike{text("time"), text("node"), text("cause"), text("run"), 0, text("detail")};
  if (strike.node.empty() || strike.cause.empty() || !parse_utc(strike.time)) return std::nullopt;
  const auto attempt = j.find("attempt");
  if (attempt != j.end() && attempt->is_number_unsigned() &&
      attempt->get<std::uint64_t>() <= 1'000'000)
    strike.attempt = attempt->get<unsigned>();
  return strike;
}

}  // namespace

std::vector<Strike> parse_strikes(const std::string& text) {
  std::vector<Strike> strikes;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    if (auto strike = parse_strike(text.substr(start, end - start)))
      strikes.push_back(*std::move(strike));
    start = end + 1;
  }
  return strikes;
}

std::vector<Quarantined> quarantined(const std::vector<Strike>& strikes, WallTime now) {
  std::map<std::string, NodeRecord> nodes;
  for (const Strike& strike : strikes)
    if (const auto time = time_of(strike, now)) nodes[strike.node].add(strike, *time);
  std::vector<Quarantined> all;
  for (const auto& [node, record] : nodes)
    if (auto one = record.at(now)) all.push_back(*std::move(one));
  std::stable_sort(all.begin(), all.end(), [](const Quarantined& a, const Quarantined& b) {
    return a.since < b.since;
  });
  return all;
}

std::vector<Strike> worth_keeping(const std::vector<Strike>& strikes, WallTime now) {
  std::vector<Strike> kept;
  for (const Strike& strike : strikes) {
    const auto time = time_of(strike, now);
    if (!time || now - *time > k_memory) continue;
    if (strike.cause == k_released)
      std::erase_if(kept, [&](const Strike& old) { return old.node == strike.node; });
    else
      kept.push_back(strike);
  }
  return kept;
}

std::vector<Strike> strikes_of(const Outcome& outcome, const std::string& run, unsigned attempt) {
  std::vector<Strike> strikes;
  for (const UnfitNode& unfit : outcome.unfit)
    strikes.push_back({{}, unfit.node, k_preflight_strike, run, attempt, unfit.why});
  const bool of_port = outcome.cause == Cause::rendezvous && says_port_is_taken(outcome.detail);
  const bool of_node = outcome.cause == Cause::gpu_error || outcome.cause == Cause::hang ||
                       outcome.cause == Cause::corruption ||
                       (kind_of(outcome.cause) == Kind::launch && !of_port);
  if (strikes.empty() && of_node && !outcome.node.empty())
    strikes.push_back({{}, outcome.node, to_string(outcome.cause), run, attempt, outcome.detail});
  return strikes;
}

}  // namespace dts::run
