// SPDX-License-Identifier: Apache-2.0
// Enqueues passes as graphs, so that work which is the same in every step is prepared only once.
#pragma once

#include "core/train/accelerator/queue/queue.hpp"

#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace dts::train::accelerator {

// All arguments of a pass's kernels that differ between passes of a network: passes with equal keys
// run the same kernels with the same arguments.
struct PassKey {
  enum class Part { forward, backward, evaluation };

  Part part = Part::forward;
  int rows = 0;
  const float* weights = nullptr;
  const float* sums = nullptr;
  float scale = 0;
  float smoothing = 0;
  bool with_squares = false;

  auto operator<=>(const PassKey&) const = default;
};

// Every function may throw DeviceError. Not thread-safe.
class PassGraphs {
 public:
  // More than the number of addresses between which a training alternates.
  static constexpr std::size_t k_most = 64;

  // The queue must outlive this. `notify`, if set, gets a message for users with the first graph of
  // each part, and if no graph can be made.
  explicit PassGraphs(Queue& queue, std::function<void(const std::string&)> notify = nullptr)
      : queue_(queue), notify_(std::move(notify)) {}

  // Does what work() enqueues. The first time for a key it calls work(), so that libraries can
  // choose and load what they need; afterwards it replays a graph, if one can be made.
  template <class Work>
  void play(const PassKey& key, const Work& work) {
    Played* const played = find(key);
    if (played == nullptr || !played->is_known) {
      if (played != nullptr) played->is_known = true;
      return work();
    }
    if (played->graph.at == nullptr) make(key, *played, work);
    if (played->graph.at == nullptr) return work();
    queue_.replay(played->graph);
  }

  [[nodiscard]] std::size_t graphs() const { return graphs_; }

 private:
  struct Played {
    bool is_known = false;
    Graph graph;
  };

  [[nodiscard]] Played* find(const PassKey& key);
  void make(const PassKey& key, Played& played, const std::function<void()>& work);
  void report(PassKey::Part part, std::size_t pieces);

  Queue& queue_;
  std::function<void(const std::string&)> notify_;
  std::map<PassKey, Played> played_;
  std::set<PassKey::Part> reported_parts_;
  std::size_t graphs_ = 0;
  bool is_off_ = false;
};

}  // namespace dts::train::accelerator
