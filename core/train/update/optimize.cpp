// SPDX-License-Identifier: Apache-2.0
// ShardedUpdate: what the optimiser does with a rank's chunks. Norms are of chunks, added in the
// order of the grid, so that no bit depends on the number of ranks.
#include "core/train/device/kernels.hpp"
#include "core/train/device/optimizer_kernels.hpp"
#include "core/train/update/sharded_update.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace dts::train {
namespace {

constexpr std::size_t k_most_moments = 4;

}  // namespace

void ShardedUpdate::move(
    int chunk, int thread, const UpdateStep& step, float gradient_scale, const State& state) {
  const Range part = grid_.floats_of({chunk, chunk + 1});
  const std::size_t at = places_[static_cast<std::size_t>(chunk)];
  const std::size_t moments = layout_.moments.size();
  std::array<const float*, k_most_moments> now{};
  std::array<float*, k_most_moments> next{};
  for (std::size_t moment = 0; moment < moments; ++moment) {
    now[moment] = momentum_.data() + moment * own_floats_ + at;
    next[moment] = next_momentum_.data() + moment * own_floats_ + at;
  }
  const float* gradients = sums_.gradients + at;
  if (gradient_scale != 1) {
    float* const scaled = scaled_[static_cast<std::size_t>(thread)].data();
    optimizer_kernels().blend(scaled, gradients, gradients, part.size(), gradient_scale, 0);
    gradients = scaled;
  }
  settings_.optimizer->update(settings_.optimization,
                              step,
                              {gradients,
                               state.weights.data() + part.begin,
                               next_weights_.data() + part.begin,
                               {now.data(), moments},
                               {next.data(), moments},
                               part.size(),
                               grid_.decays(chunk)});
}

// As PyTorch's clip_grad_norm_(). Collective if gradients are clipped.
float ShardedUpdate::gradient_scale() {
  if (settings_.optimization.clip_norm == 0) return 1;
  std::vector<double> squares(static_cast<std::size_t>(grid_.count()));
  for (const int chunk : own_) {
    const Range part = grid_.floats_of({chunk, chunk + 1});
    const auto at = static_cast<std::size_t>(chunk);
    squares[at] = sum_squares(sums_.gradients + places_[at], part.size());
  }
  share(squares);
  double sum = 0;
  for (const double one : squares) sum += one;
  const double scale = settings_.optimization.clip_norm / (std::sqrt(sum) + 1e-6);
  return scale < 1 ? static_cast<float>(scale) : 1;  // also of a norm that is not finite
}

void ShardedUpdate::move_by_tensor(double lr, const State& state) {
  const auto chunks = static_cast<std::size_t>(grid_.count());
  std::vector<double> weights(chunks);
  std::vector<double> directions(chunks);
  for (const int chunk : own_) {
    const Range part = grid_.floats_of({chunk, chunk + 1});
    const auto at = static_cast<std::size_t>(chunk);
    weights[at] = sum_squares(state.weights.data() + part.begin, part.size());
    directions[at] = sum_squares(next_weights_.data() + part.begin, part.size());
  }
  share(weights);
  share(directions);
  for (int chunk = 0; chunk < grid_.count();) {
    const Span tensor = grid_.tensor_chunks(chunk);
    double weight = 0;
    double direction = 0;
    for (int one = tensor.lo; one < tensor.hi; ++one) {
      weight += weights[static_cast<std::size_t>(one)];
      direction += directions[static_cast<std::size_t>(one)];
    }
    const double ratio = weight > 0 && direction > 0 ? std::sqrt(weight / direction) : 1;
    chunk = tensor.hi;
    if (!grid_.decays(tensor.lo)) continue;
    const auto first = std::lower_bound(own_.begin(), own_.end(), tensor.lo);
    for (auto mine = first; mine != own_.end() && *mine < tensor.hi; ++mine) {
      const Range part = grid_.floats_of({*mine, *mine + 1});
      optimizer_kernels().move(next_weights_.data() + part.begin,
                               state.weights.data() + part.begin,
                               next_weights_.data() + part.begin,
                               part.size(),
                               1,
                               static_cast<float>(lr * ratio));
    }
  }
}

}  // namespace dts::train
