// SPDX-License-Identifier: Apache-2.0
// ShardedUpdate: the optimiser on a rank's chunks. Norms are computed per chunk and added in the
// order of the grid, so that no bit depends on the number of ranks.
#include "core/train/device/kernels.hpp"
#include "core/train/device/optimizer_kernels.hpp"
#include "core/train/update/sharded_update.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

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

void ShardedUpdate::check_gradient(int chunk) {
  if (exchange_ && !stays_ && !exchange_->is_whole(chunk))
    wrong_[static_cast<std::size_t>(chunk)] |= k_gradient;
}

void ShardedUpdate::step_owned(const UpdateStep& step, float scale, const State& state) {
  const bool by_tensor = settings_.optimizer->by_tensor;
  each(own_, [&](int chunk, int thread) {  // does everything while the chunk is cached
    check_owned(state, chunk);
    check_gradient(chunk);
    move(chunk, thread, step, scale, state);
    if (!by_tensor) record_next(chunk);
  });
  if (!by_tensor) return;
  step_by_tensor(step.lr, state);
  each(own_, [&](int chunk, int /*thread*/) { record_next(chunk); });
}

// The factor that clips the gradient, like PyTorch's clip_grad_norm_(). Collective if gradients are
// clipped.
float ShardedUpdate::gradient_scale() {
  if (settings_.optimization.clip_norm == 0) return 1;
  ByChunk squares(static_cast<std::size_t>(grid_.count()));
  if (settings_.accelerated != nullptr) {
    squares = device_gradient_squares();
  } else {
    for (const int chunk : own_) {
      const Range part = grid_.floats_of({chunk, chunk + 1});
      const auto at = static_cast<std::size_t>(chunk);
      squares[at] = sum_squares(sums_.gradients + places_[at], part.size());
    }
  }
  share(squares);
  double sum = 0;
  for (const double one : squares) sum += one;
  const double scale = settings_.optimization.clip_norm / (std::sqrt(sum) + 1e-6);
  return scale < 1 ? static_cast<float>(scale) : 1;  // 1 also if the norm is not finite
}

// The rate of each own chunk that decays, computed from the squares of the weights and directions
// of all chunks of its tensor. Chunks that do not decay have moved already. Collective.
std::vector<float> ShardedUpdate::rates_by_tensor(double lr, ByChunk weights, ByChunk directions) {
  share(weights);
  share(directions);
  std::vector<float> rates(own_.size());
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
    for (auto mine = first; mine != own_.end() && *mine < tensor.hi; ++mine)
      rates[static_cast<std::size_t>(mine - own_.begin())] = static_cast<float>(lr * ratio);
  }
  return rates;
}

void ShardedUpdate::step_by_tensor(double lr, const State& state) {
  const auto chunks = static_cast<std::size_t>(grid_.count());
  ByChunk weights(chunks);
  ByChunk directions(chunks);
  for (const int chunk : own_) {
    const Range part = grid_.floats_of({chunk, chunk + 1});
    const auto at = static_cast<std::size_t>(chunk);
    weights[at] = sum_squares(state.weights.data() + part.begin, part.size());
    directions[at] = sum_squares(next_weights_.data() + part.begin, part.size());
  }
  const std::vector<float> rates = rates_by_tensor(lr, std::move(weights), std::move(directions));
  for (std::size_t i = 0; i < own_.size(); ++i) {
    if (!grid_.decays(own_[i])) continue;
    const Range part = grid_.floats_of({own_[i], own_[i] + 1});
    optimizer_kernels().move(next_weights_.data() + part.begin,
                             state.weights.data() + part.begin,
                             next_weights_.data() + part.begin,
                             part.size(),
                             1,
                             rates[i]);
  }
}

}  // namespace dts::train
