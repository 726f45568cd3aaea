// SPDX-License-Identifier: Apache-2.0
// DeviceExchange: operations on arrays.
#include "core/train/accelerator/exchange/device_exchange.hpp"

#include "core/train/accelerator/device_update.hpp"

#include <utility>

namespace dts::train::accelerator {

Partials DeviceExchange::gradients(const Partials& /*mine*/) {
  return kept_;
}

void DeviceExchange::grow(Room& room, std::size_t floats) {
  if (room.data() != nullptr && room.size() >= floats) return;
  guarded(settings_.failed, [&] {
    room = Room();
    const auto release = [&queue = queue_](float* at) {
      try {
        queue.release(at);
      } catch (const DeviceError&) {  // NOLINT(bugprone-empty-catch): the next use of it tells
      }
    };
    room = Room(std::shared_ptr<float>(queue_.allocate(floats), release), floats);
  });
}

// The offset of each chunk of a run in an array that begins with the run.
const OwnChunk* DeviceExchange::table_of(Span chunks) {
  OwnChunk*& table = tables_[chunks];
  if (table != nullptr) return table;
  std::vector<OwnChunk> all;
  const std::size_t begin = grid_.floats_of(chunks).begin;
  for (int chunk = chunks.lo; chunk < chunks.hi; ++chunk) {
    const Range floats = grid_.floats_of({chunk, chunk + 1});
    all.push_back({floats.begin - begin, 0, static_cast<std::uint32_t>(floats.size()), 0});
  }
  table = queue_.allocate<OwnChunk>(all.size());
  queue_.to_device(table, all.data(), all.size());
  return table;
}

void DeviceExchange::checksums(const float* values, Span chunks, std::uint64_t* out) {
  if (chunks.size() == 0) return;
  guarded(settings_.failed, [&] {
    const auto count = static_cast<std::size_t>(chunks.size());
    const std::size_t floats = grid_.floats_of(chunks).size();
    queue_.launch(
        ChecksumChunks{{count, table_of(chunks), 0, floats}, values, nullptr, 0, reports_});
    std::vector<ChunkReport> reports(count);
    queue_.to_host(reports.data(), reports_, count);
    for (const ChunkReport& one : reports) *out++ = one.weights;
  });
}

// Returns where the sum of `node` is: in its own partial if there is one, otherwise in `to`. Like
// block_sum() in comm/tree.cpp.
const float* DeviceExchange::sum_of(
    Span node, const ConstPartials& all, float* to, std::size_t count, std::size_t depth) {
  if (const auto found = all.find(node); found != all.end()) return found->second;
  if (spare_.size() <= depth) spare_.resize(depth + 1);
  grow(spare_[depth], count);
  const float* const left = sum_of(left_child(node), all, to, count, depth + 1);
  const float* const right = sum_of(right_child(node), all, spare_[depth].data(), count, depth + 1);
  if (left != to) queue_.launch(Copy<float>{{count}, left, to});
  queue_.launch(Add<float>{{count}, to, right});
  return to;
}

void DeviceExchange::sum(float* sums, Span node, const ConstPartials& all, std::size_t count) {
  if (count == 0) return;
  guarded(settings_.failed, [&] {
    const float* const sum = sum_of(node, all, sums, count, 0);
    if (sum != sums) queue_.launch(Copy<float>{{count}, sum, sums});
  });
}

void DeviceExchange::flip(float* at) {
  guarded(settings_.failed, [&] {
    float value = 0;
    queue_.to_host(&value, at, 1);
    flip_bit(value);
    queue_.to_device(at, &value, 1);
  });
}

// What arrived is in this rank's own memory.
const float* DeviceExchange::flipped(const float* came,
                                     std::size_t /*count*/,
                                     std::size_t element) {
  flip(const_cast<float*>(came) + element);
  return came;
}

void DeviceExchange::to_host(float* to, const float* from, std::size_t count) {
  guarded(settings_.failed, [&] { queue_.to_host(to, from, count); });
}

}  // namespace dts::train::accelerator
