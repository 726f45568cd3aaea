// SPDX-License-Identifier: Apache-2.0
#include "core/launch/rank/rank_segments.hpp"

#include "core/base/hash.hpp"

namespace dts::launch {
namespace {

// Parameters of Open MPI 4 and 5: btl/vader was renamed to btl/sm in 5.
constexpr const char* k_variables[] = {"OMPI_MCA_btl_vader_backing_directory",
                                       "OMPI_MCA_btl_sm_backing_directory",
                                       "OMPI_MCA_osc_sm_backing_directory",
                                       "OMPI_MCA_osc_rdma_backing_directory"};

}  // namespace

RankSegments::RankSegments(const std::string& owner) : name_(to_hex(hash64(owner))) {}

void RankSegments::prepare(plan::Environment& variables, const plan::IsSet& is_set) {
  remove_left_segments(k_shared_memory);
  folder_.emplace(SegmentFolder::join(k_shared_memory, name_));
  if (!folder_->valid()) return;
  for (const char* name : k_variables)
    if (!is_set(name)) variables.emplace_back(name, folder_->path());
}

}  // namespace dts::launch
