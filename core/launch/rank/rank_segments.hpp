// SPDX-License-Identifier: Apache-2.0
// The folder in which the programs of one node and attempt keep their shared memory. Open MPI names
// its files by host name, user, job and local rank (btl/vader 4.1:
// "vader_segment.HOST.UID.JOB.RANK"). Two simulated nodes of one machine, and two private clusters,
// have these in common, and a rank that maps another node's file crashes. Open MPI also leaves the
// files behind when its processes are killed.
#pragma once

#include "core/base/files/segment_folder.hpp"
#include "core/plan/plan.hpp"

#include <optional>
#include <string>

namespace dts::launch {

class RankSegments {
 public:
  // `owner`: a text that only the ranks of this node and attempt share.
  explicit RankSegments(const std::string& owner);

  // Creates the folder, or joins the other ranks in it, removes what killed ranks of this user left
  // there, and adds the variables that name the folder, except variables that `is_set`. Adds
  // nothing if there is no place for shared memory.
  void prepare(plan::Environment& variables, const plan::IsSet& is_set);

  // The folder's path; empty: there is none.
  [[nodiscard]] std::string path() const {
    return folder_ && folder_->valid() ? folder_->path() : "";
  }

 private:
  std::string name_;
  std::optional<SegmentFolder> folder_;
};

}  // namespace dts::launch
