// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/queue/pass_graphs.hpp"

#include <fmt/format.h>

namespace dts::train::accelerator {
namespace {

const char* name_of(PassKey::Part part) {
  constexpr const char* k_names[] = {"forward", "backward", "evaluation"};
  return k_names[static_cast<std::size_t>(part)];
}

}  // namespace

PassGraphs::Played* PassGraphs::find(const PassKey& key) {
  if (is_off_ || !queue_.has_graphs()) return nullptr;
  const auto found = played_.find(key);
  if (found != played_.end()) return &found->second;
  return played_.size() < k_most ? &played_[key] : nullptr;
}

// A device that cannot make a graph can still compute; if it has failed, the next kernel reports
// that.
void PassGraphs::make(const PassKey& key, Played& played, const std::function<void()>& work) {
  try {
    played.graph = queue_.graph_of(work);
  } catch (const DeviceError& e) {
    is_off_ = true;
    if (notify_)
      notify_(
          fmt::format("the device makes no graph of the {} pass: {}", name_of(key.part), e.what()));
    return;
  }
  ++graphs_;
  report(key.part, played.graph.pieces);
}

void PassGraphs::report(PassKey::Part part, std::size_t pieces) {
  if (!notify_ || !reported_parts_.insert(part).second) return;
  notify_(fmt::format("the {} pass is one graph of {} kernels from now on", name_of(part), pieces));
}

}  // namespace dts::train::accelerator
