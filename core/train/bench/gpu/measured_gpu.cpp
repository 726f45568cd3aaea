// SPDX-License-Identifier: Apache-2.0
#include "core/train/bench/gpu/measured_gpu.hpp"

#include <fmt/format.h>

namespace dts::train::bench {

MeasuredGpu::~MeasuredGpu() {
  if (context_ == nullptr) return;
  // Errors of a broken GPU do not matter here.
  (void)module_.table->wait(context_);
  for (void* const piece : pieces_) module_.table->release(context_, piece);
  module_.table->close(context_);
}

Result<void> MeasuredGpu::check(const char* wrong) const {
  if (wrong == nullptr) return {};
  return fail(Errc::io, wrong);
}

std::string MeasuredGpu::place() const {
  return facts_.pci[0] == '\0' ? std::string() : fmt::format(" ({})", facts_.pci);
}

Result<void> MeasuredGpu::open(std::size_t bytes) {
  DTS_ASSIGN(context_, accelerator::open_context(module_, number_));
  DTS_TRY(check(module_.table->facts(context_, &facts_)));
  bytes_ = bytes;
  for (int i = 0; i < 3; ++i) {
    void* at = nullptr;
    DTS_TRY(check(module_.table->allocate(context_, bytes, &at)));
    pieces_.push_back(at);
  }
  return {};
}

Result<double> MeasuredGpu::timed(const std::function<const char*()>& enqueue) {
  double seconds = 0;
  DTS_TRY(check(module_.table->start_timer(context_)));
  DTS_TRY(check(enqueue()));
  DTS_TRY(check(module_.table->stop_timer(context_, &seconds)));
  return seconds;
}

Result<void> MeasuredGpu::pin(const NodePages& pages) {
  return check(module_.table->pin(context_, pages.data(), pages.size()));
}

void MeasuredGpu::unpin(const NodePages& pages) {
  (void)module_.table->wait(context_);
  module_.table->unpin(context_, pages.data());
}

Result<double> MeasuredGpu::copy_to(const NodePages& pages) {
  return timed(
      [&] { return module_.table->to_device(context_, pieces_[0], pages.data(), bytes_); });
}

Result<double> MeasuredGpu::copy_back(const NodePages& pages) {
  return timed([&] { return module_.table->to_host(context_, pages.data(), pieces_[0], bytes_); });
}

Result<double> MeasuredGpu::copy_within() {
  return timed([&] { return module_.table->copy(context_, pieces_[1], pieces_[0], bytes_); });
}

Result<double> MeasuredGpu::copy_from(const MeasuredGpu& other) {
  return timed([&] {
    return module_.table->copy_from(context_, pieces_[1], other.context_, other.pieces_[0], bytes_);
  });
}

Result<bool> MeasuredGpu::reaches(const MeasuredGpu& other) {
  int is_direct = 0;
  DTS_TRY(check(module_.table->reach(context_, other.context_, &is_direct)));
  return is_direct != 0;
}

Result<double> MeasuredGpu::multiply(int side, dttrain_factors factors) {
  const dttrain_product product{{pieces_[0], side, 0, 0},
                                {pieces_[1], side, 0, 0},
                                pieces_[2],
                                side,
                                side,
                                side,
                                side,
                                0,
                                1,
                                factors,
                                0,
                                nullptr,
                                nullptr,
                                DTTRAIN_STRAIGHT,
                                nullptr,
                                nullptr,
                                0};
  return timed([&] { return module_.table->multiply(context_, &product); });
}

}  // namespace dts::train::bench
