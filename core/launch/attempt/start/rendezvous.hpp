// SPDX-License-Identifier: Apache-2.0
// Chooses the address at which the ranks of an attempt meet. Rank 0 listens, and one rank of every
// other node tries each of rank 0's addresses. The first that all of them reach is chosen, in an
// order that begins with the fastest adapter. Pure, not thread-safe.
#pragma once

#include "core/launch/attempt/start/rank_places.hpp"
#include "core/launch/attempt/state/attempt_news.hpp"
#include "core/launch/attempt/state/attempt_settings.hpp"
#include "core/launch/attempt/state/ending.hpp"
#include "core/launch/attempt/state/rank_table.hpp"

#include <map>
#include <string>
#include <vector>

namespace dts::launch {

class Rendezvous {
 public:
  Rendezvous(const AttemptSettings& settings,
             RankTable& ranks,
             const RankPlaces& places,
             Ending& ending,
             AttemptNews& news)
      : settings_(settings), ranks_(ranks), places_(places), ending_(ending), news_(news) {}

  // See Attempt::set_node_addresses().
  void set_node_addresses(std::map<std::string, std::string> addresses) {
    node_addresses_ = std::move(addresses);
  }

  // Call it when all ranks are placed.
  void begin(Time now);
  void on_listening(unsigned rank, const Listening& message, Time now);
  void on_reached(unsigned rank, const Reached& message, Time now);
  void on_tick(Time now);

  [[nodiscard]] bool is_settled() const { return step_ == Step::settled; }

  [[nodiscard]] const plan::Rendezvous& result() const { return result_; }

 private:
  enum class Step { idle, listening, probing, settled };

  void begin_probes(Time now);
  void choose_probers();
  // The routes by which the probers reached `address`, in the order of `probers_`; empty if one of
  // them did not reach it.
  [[nodiscard]] std::vector<Route> routes_to(const std::string& address) const;
  void meet_at(const std::string& address, const std::vector<Route>& routes);
  void doubt_given_address();  // by the user's command
  [[nodiscard]] std::vector<std::string> address_candidates() const;
  [[nodiscard]] std::string scheduled_address(unsigned rank) const;  // empty: not known
  void end_without_interface(Time now);
  void end_unreached(const std::vector<std::string>& candidates, Time now);
  [[nodiscard]] std::string nonce() const;  // proves to a prober that it reached this job's rank 0

  const AttemptSettings& settings_;
  RankTable& ranks_;
  const RankPlaces& places_;
  Ending& ending_;
  AttemptNews& news_;
  Step step_ = Step::idle;
  Time limit_;
  std::map<std::string, std::string> node_addresses_;
  std::map<unsigned, std::vector<Route>> reached_;  // by probing rank
  std::vector<unsigned> probers_;                   // ascending
  plan::Rendezvous result_;
};

}  // namespace dts::launch
