// SPDX-License-Identifier: Apache-2.0
// The inputs of an AttemptRunner: the attempt, where it runs, and whom to notify.
#pragma once

#include "core/launch/attempt/attempt.hpp"
#include "core/launch/job/job_watch.hpp"

#include <functional>
#include <future>
#include <string>

namespace dts::launch {

struct RunnerSettings {
  AttemptSettings attempt;
  std::string dtsubmit;                                     // path of our own program
  bool names_nodes = false;                                 // the job also has other nodes
  bool local = false;                                       // no scheduler: this machine only
  int signals = -1;                                         // signalfd, see take_signals()
  std::shared_future<Result<topo::NodeTopology>> topology;  // of this node; being read
  JobWatch* watch = nullptr;                                // may be null; not owned
  std::function<Result<void>(const Attempt&)> on_started;   // all ranks run; an error ends them
  std::function<void(const Attempt&)> on_stop;              // programs have been asked to save
  std::function<void(run::Event)> on_event;                 // called with an event for the ledger
};

}  // namespace dts::launch
