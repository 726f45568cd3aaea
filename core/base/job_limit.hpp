// SPDX-License-Identifier: Apache-2.0
// A limit of a site that a single job can exceed by itself. Such a job never starts, however long
// it waits.
#pragma once

#include <cstdint>
#include <string>

namespace dts {

struct JobLimit {
  enum class Of {
    every_job,  // no job starts; `place` is the whole reason
    nodes,
    cpus,
    memory,    // MiB
    gpus,      // of `gpu_type`, if that is set
    time,      // minutes
    elements,  // of an array, all of which are submitted at once
    billing,   // units per hour (billing.hpp)
  };

  Of of = Of::every_job;
  std::string gpu_type{};
  bool is_per_node = false;
  bool is_least = false;      // the job must ask for at least `amount`, otherwise for at most
  bool is_with_time = false;  // `amount` is of the product with the time limit in minutes
  std::uint64_t amount = 0;
  std::string name{};     // in the scheduler's own terms: "MaxTRESPerJob=cpu=2"
  std::string place{};    // "QOS small gives a job"
  std::string instead{};  // where the limit may be another one: "another --qos"
};

}  // namespace dts
