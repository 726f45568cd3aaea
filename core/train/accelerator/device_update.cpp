// SPDX-License-Identifier: Apache-2.0
#include "core/train/accelerator/device_update.hpp"

#include "core/train/memory/buffer.hpp"

#include <algorithm>
#include <utility>

namespace dts::train::accelerator {
namespace {

// The ranges of parameters that the chunks, in their order, cover.
std::vector<Range> runs_of(const std::vector<OwnChunk>& chunks) {
  std::vector<Range> runs;
  for (const OwnChunk& chunk : chunks) {
    const Range one{chunk.begin, chunk.begin + chunk.count};
    if (!runs.empty() && runs.back().end == one.begin)
      runs.back().end = one.end;
    else
      runs.push_back(one);
  }
  return runs;
}

}  // namespace

void DeviceUpdate::reserve(std::size_t floats, std::size_t moments) {
  next_weights_.grow(queue_, floats);
  moments_.grow(queue_, moments * floats);
  next_moments_.grow(queue_, moments * floats);
  if (floats < parameters_) gradients_.grow(queue_, floats);
}

void DeviceUpdate::begin(Owned owned, const float* weights, const float* moments) {
  guarded(failed_, [&] {
    owned_ = std::move(owned);
    reserve(owned_.floats, kinds());
    chunks_.grow(queue_, owned_.chunks.size());
    reports_.grow(queue_, owned_.chunks.size());
    squares_.grow(queue_, owned_.chunks.size());
    rates_.grow(queue_, owned_.chunks.size());
    queue_.to_device(chunks_.at, owned_.chunks.data(), owned_.chunks.size());
    queue_.to_device(moments_.at, moments, kinds() * owned_.floats);
    resident_.own = runs_of(owned_.chunks);
    for (const Range run : resident_.own)
      queue_.to_device(resident_.weights + run.begin, weights + run.begin, run.size());
    copied_from_ = nullptr;
  });
}

void DeviceUpdate::fetch(std::span<ChunkReport> reports) {
  queue_.to_host(reports.data(), reports_.at, reports.size());
}

void DeviceUpdate::look(std::span<ChunkReport> reports) {
  guarded(failed_, [&] {
    queue_.launch(ChecksumChunks{
        all_chunks(), resident_.weights, moments_.at, static_cast<int>(kinds()), reports_.at});
    fetch(reports);
  });
}

// Gradients that stayed are in an array of all parameters. This rank then owns all of them, so that
// the place of a chunk is its offset there.
const float* DeviceUpdate::on_device(const float* gradients) {
  if (gradients == nullptr) return resident_.gradients;
  if (resident_.is_exchanged) return gradients;
  if (std::exchange(copied_from_, nullptr) == gradients) return gradients_.at;
  gradients_.grow(queue_, owned_.floats);
  queue_.to_device(gradients_.at, gradients, owned_.floats);
  return gradients_.at;
}

void DeviceUpdate::squares(const float* gradients, std::span<double> each) {
  guarded(failed_, [&] {
    squares_.grow(queue_, each.size());
    queue_.launch(ChunkSquares{all_chunks(), on_device(gradients), squares_.at});
    queue_.to_host(each.data(), squares_.at, each.size());
    copied_from_ = gradients;
  });
}

template <UpdateRule rule>
void DeviceUpdate::launch(const UpdateFactors& factors, const float* gradients) {
  queue_.launch(UpdateChunks<rule>{all_chunks(),
                                   factors,
                                   gradients,
                                   resident_.weights,
                                   next_weights_.at,
                                   moments_.at,
                                   next_moments_.at,
                                   reports_.at});
}

void DeviceUpdate::step(const UpdateFactors& factors,
                        const float* gradients,
                        std::span<ChunkReport> reports) {
  guarded(failed_, [&] {
    const float* const device_gradients = on_device(gradients);
    switch (owned_.optimizer->rule) {
      case UpdateRule::sgd:
        launch<UpdateRule::sgd>(factors, device_gradients);
        break;
      case UpdateRule::nesterov:
        launch<UpdateRule::nesterov>(factors, device_gradients);
        break;
      case UpdateRule::adam:
        launch<UpdateRule::adam>(factors, device_gradients);
        break;
      case UpdateRule::lamb:
        launch<UpdateRule::lamb>(factors, device_gradients);
        break;
    }
    fetch(reports);
  });
}

void DeviceUpdate::move(std::span<const float> rates, std::span<ChunkReport> reports) {
  guarded(failed_, [&] {
    rates_.grow(queue_, rates.size());
    queue_.to_device(rates_.at, rates.data(), rates.size());
    queue_.launch(
        ApplyDirections{all_chunks(), rates_.at, resident_.weights, next_weights_.at, reports_.at});
    fetch(reports);
  });
}

void DeviceUpdate::next_weights(float* all) {
  guarded(failed_, [&] {
    const float* from = next_weights_.at;
    for (const Range run : resident_.own) {
      queue_.to_host(all + run.begin, from, run.size());
      from += run.size();
    }
  });
}

void DeviceUpdate::keep() {
  guarded(failed_, [&] {
    std::swap(moments_, next_moments_);
    if (owned_.floats == parameters_) return std::swap(resident_.weights, next_weights_.at);
    const float* from = next_weights_.at;
    for (const Range run : resident_.own) {
      queue_.launch(Copy<float>{{run.size()}, from, resident_.weights + run.begin});
      from += run.size();
    }
  });
}

void DeviceUpdate::weights(float* all) {
  guarded(failed_, [&] {
    for (const Range run : resident_.own)
      queue_.to_host(all + run.begin, resident_.weights + run.begin, run.size());
  });
}

void DeviceUpdate::moments(float* owned) {
  guarded(failed_, [&] { queue_.to_host(owned, moments_.at, kinds() * owned_.floats); });
}

void DeviceUpdate::flip(float* at) {
  guarded(failed_, [&] {
    float value = 0;
    queue_.to_host(&value, at, 1);
    flip_bit(value);
    queue_.to_device(at, &value, 1);
  });
}

void DeviceUpdate::flip_weight(std::size_t place) {
  flip(resident_.weights + chunk_at(place).begin + (place - chunk_at(place).place));
}

void DeviceUpdate::flip_moment(std::size_t place) {
  flip(moments_.at + place);
}

const OwnChunk& DeviceUpdate::chunk_at(std::size_t place) const {
  const auto after = std::partition_point(owned_.chunks.begin(),
                                          owned_.chunks.end(),
                                          [&](const OwnChunk& one) { return one.place <= place; });
  return *(after - 1);
}

}  // namespace dts::train::accelerator
