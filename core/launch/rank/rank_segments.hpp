// SPDX-License-Identifier: Apache-2.0
// Where the programs of one node and one attempt keep their shared memory. Open MPI names its files
// by host name, user, job and local rank (btl/vader 4.1: "vader_segment.HOST.UID.JOB.RANK"), which
// two simulated nodes of one machine, and two private clusters, have in common: a rank that maps
// another node's file crashes. It also leaves the files behind when its processes are killed.
#pragma once

#include "core/base/files/segment_folder.hpp"
#include "core/plan/plan.hpp"

#include <optional>
#include <string>

namespace dts::launch {

class RankSegments {
 public:
  // `owner`: a text that the ranks of this node in this attempt share with no others.
  explicit RankSegments(const std::string& owner);

  // Makes the folder, or joins the other ranks in it, removes what killed ranks of this user left,
  // and adds the variables that name it, except those that `is_set`. If there is no place for
  // shared memory, nothing is added.
  void prepare(plan::Environment& variables, const plan::IsSet& is_set);

  // The folder; empty: there is none.
  [[nodiscard]] std::string path() const {
    return folder_ && folder_->valid() ? folder_->path() : "";
  }

 private:
  std::string name_;
  std::optional<SegmentFolder> folder_;
};

}  // namespace dts::launch
