// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/weight_uploads.hpp"

#include <algorithm>

namespace dts::train::accelerator {
namespace {

// Adds to `runs`, which are ascending, the parts of `range` that they lack, and returns those
// parts.
std::vector<Range> add_gaps(std::vector<Range>& runs, Range range) {
  std::vector<Range> gaps = gaps_in(runs, range);
  runs.insert(runs.end(), gaps.begin(), gaps.end());
  std::sort(runs.begin(), runs.end());
  return gaps;
}

}  // namespace

WeightUploads::WeightUploads(Queue& queue,
                             Products& products,
                             const Resident& resident,
                             std::size_t parameters)
    : queue_(queue),
      products_(products),
      resident_(resident),
      first_(resident.weights),
      all_{0, parameters},
      read_(queue.new_event()) {
  (void)products_.keep_copy(first_, parameters);
}

void WeightUploads::begin(bool in_parts) {
  products_.share_copy(resident_.weights, first_);
  on_device_ = resident_.is_exchanged ? std::vector{all_} : resident_.own;
  is_complete_ = gaps_in(on_device_, all_).empty();
  rounded_.clear();
  if (is_complete_ && !in_parts) round(all_);
}

// Weights are copied when the first pass needs them, and within a window as they arrive.
WeightUploads::Enter WeightUploads::enter_of(Window* window, const float* weights) {
  if (window == nullptr && is_complete_) return nullptr;
  return [this, window, weights, place = 0](Range range) mutable {
    if (window != nullptr) window->enter(0, place++);
    upload(range, weights);
  };
}

void WeightUploads::end_pass() {
  queue_.record(read_);
  is_complete_ = true;
}

// Copies once for all passes, while the device computes what was enqueued before.
void WeightUploads::upload(Range range, const float* weights) {
  for (const Range gap : add_gaps(on_device_, range))
    queue_.to_device_after(read_, resident_.weights + gap.begin, weights + gap.begin, gap.size());
  round(range);
}

// Rounds the present weights that are not rounded yet.
void WeightUploads::round(Range range) {
  for (const Range gap : add_gaps(rounded_, range))
    products_.round(resident_.weights + gap.begin, gap.size());
}

}  // namespace dts::train::accelerator
