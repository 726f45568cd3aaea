// SPDX-License-Identifier: Apache-2.0
// Sums of the columns of a matrix on a device, computed from sums over runs of its rows
// (kernels/columns.hpp).
#pragma once

#include "core/train/accelerator/queue/queue.hpp"

#include <cstddef>

namespace dts::train::accelerator {

// Every function may throw DeviceError. The queue must outlive this. Not thread-safe.
class RunSums {
 public:
  // For a matrix [rows][width] whose runs have `each` rows. `scratch` has floats(rows, width, each)
  // for each array of sums that one kernel computes; its content is lost between kernels.
  RunSums(Queue& queue, int rows, int width, float* scratch, int each = Columnwise::k_rows_each)
      : queue_(queue), of_{rows, width, each}, scratch_(scratch) {}

  [[nodiscard]] static std::size_t floats(int rows, int width, int each = Columnwise::k_rows_each) {
    const Columnwise of{rows, width, each};
    return of.runs() > 1 ? of.sums_of_runs() : 0;
  }

  [[nodiscard]] int rows_each() const { return of_.rows_each; }

  // Where the kernel must write array `number`, whose total goes to `sums` [width].
  [[nodiscard]] float* place(std::size_t number, float* sums) const {
    return of_.runs() > 1 ? scratch_ + number * of_.sums_of_runs() : sums;
  }

  // After the kernel, for some arrays whose sums are one after the other.
  void add_up(std::size_t first, float* sums, int arrays = 1) {
    if (of_.runs() > 1)
      queue_.launch(ColumnSums<float>{
          {arrays * of_.runs(), of_.width, of_.runs()}, place(first, sums), sums});
  }

 private:
  Queue& queue_;
  Columnwise of_;
  float* scratch_;
};

}  // namespace dts::train::accelerator
