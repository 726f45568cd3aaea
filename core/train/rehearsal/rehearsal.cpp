// SPDX-License-Identifier: Apache-2.0
#include "core/train/rehearsal/rehearsal.hpp"

#include "core/base/random.hpp"
#include "core/base/text/counted.hpp"
#include "core/base/text/duration.hpp"
#include "core/train/rehearsal/payload.hpp"
#include "core/train/timing/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <thread>

namespace dts::train {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t k_images = 12800;  // an epoch of the default batch has 100 steps
constexpr double k_buffers = 0x1p26;     // bytes to send from, and as many to receive into
constexpr double k_least_piece = 4096;   // bytes

// With three digits, in the largest suitable unit; each unit is a thousand of the one before.
std::string in_units(double value, std::span<const char* const> units) {
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < units.size(); ++unit) value /= 1000;
  return fmt::format("{:.3g}{}", value, units[unit]);
}

std::string size_text(double bytes) {
  constexpr const char* k_units[] = {" B", " kB", " MB", " GB", " TB", " PB"};
  return in_units(bytes, k_units);
}

std::string count_text(double count) {
  constexpr const char* k_units[] = {"", "K", "M", "B", "T"};
  return in_units(count, k_units);
}

// " (2 GB/s sent by this rank)", or nothing if there was no transfer.
std::string rate_text(double bytes, double seconds, const char* done) {
  if (bytes <= 0 || seconds <= 0) return "";
  return fmt::format(" ({}/s {} by this rank)", size_text(bytes / seconds), done);
}

}  // namespace

Rehearsal::Rehearsal(Comm& comm, const RehearsalPlan& plan)
    : comm_(comm),
      plan_(plan),
      memory_(static_cast<std::size_t>(plan.memory.of_rank(comm.size(), comm.node_size())) /
              sizeof(float)),
      images_(k_images * k_pixels),
      labels_(k_images) {
  for (std::size_t i = 0; i < images_.size(); ++i) images_[i] = static_cast<std::uint8_t>(mix(i));
  for (std::size_t i = 0; i < labels_.size(); ++i)
    labels_[i] = static_cast<std::uint8_t>(mix(i) % k_classes);
  const double ranks = comm.size();
  const double to_each = plan.sent_bytes(comm.size()) / std::max(1.0, ranks - 1);
  const double piece = std::min(to_each, std::max(k_least_piece, std::floor(k_buffers / ranks)));
  out_.resize(static_cast<std::size_t>(std::ceil(piece) * ranks));
  in_.resize(out_.size());
}

SharedSamples Rehearsal::samples() const {
  constexpr std::size_t k_tests = 1280;
  SharedSamples made;
  made.train = {images_.data(), labels_.data(), k_images};
  made.test = {images_.data(), labels_.data(), k_tests};
  return made;
}

void Rehearsal::compute() {
  const Clock::time_point start = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(plan_.step));
  computed_ += seconds_since(start);
  ++steps_;
}

// Sends each other rank as much as a reduce-scatter and an all-gather would, in pieces, two of
// which are in flight.
void Rehearsal::communicate() {
  if (comm_.size() == 1 || out_.empty()) return;
  const Clock::time_point start = Clock::now();
  const std::size_t piece = out_.size() / static_cast<std::size_t>(comm_.size());
  auto left = static_cast<std::uint64_t>(plan_.sent_bytes(comm_.size()) / (comm_.size() - 1));
  Group::Ticket before = 0;
  while (left > 0) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left, piece));
    const Group::Ticket now = comm_.post_exchange(out_.data(), in_.data(), count);
    if (before != 0) comm_.wait(before);
    before = now;
    left -= count;
  }
  if (before != 0) comm_.wait(before);
  communicated_ += seconds_since(start);
}

std::uint64_t Rehearsal::checkpoint_bytes() const {
  return plan_.checkpoint.of_rank(comm_.size(), comm_.node_size());
}

Result<void> Rehearsal::write(const std::string& folder, std::uint64_t step) const {
  return write_payload(folder, {comm_.size(), comm_.rank(), step}, checkpoint_bytes());
}

Result<void> Rehearsal::read(const std::string& folder, std::uint64_t step) {
  DTS_TRY(read_payload(folder, step, comm_.size(), comm_.rank()));
  return {};
}

void Rehearsal::saved(double seconds, double stalled) {
  ++saves_;
  saving_ += seconds;
  stalled_ += stalled;
}

std::string Rehearsal::what() const {
  return fmt::format(
      "rehearsal: {} parameters, {} of computing a step; each rank sends {} a step, writes {} "
      "of a checkpoint and holds {}\n",
      count_text(plan_.parameters),
      format_duration(Seconds(plan_.step)),
      size_text(plan_.sent_bytes(comm_.size())),
      size_text(static_cast<double>(checkpoint_bytes())),
      size_text(static_cast<double>(memory_.size() * sizeof(float))));
}

std::string Rehearsal::summary() const {
  if (steps_ == 0) return "";
  const auto steps = static_cast<double>(steps_);
  std::string text =
      fmt::format("rehearsed: {}: a step computed for {}, communicated for {}{}\n",
                  counted(steps_, "step"),
                  format_duration(Seconds(computed_ / steps)),
                  format_duration(Seconds(communicated_ / steps)),
                  rate_text(plan_.sent_bytes(comm_.size()) * steps, communicated_, "sent"));
  if (saves_ == 0) return text;
  const auto saves = static_cast<double>(saves_);
  return text + fmt::format(
                    "rehearsed: {}: one took {}{}, training stood "
                    "still for {}\n",
                    counted(saves_, "save"),
                    format_duration(Seconds(saving_ / saves)),
                    rate_text(static_cast<double>(checkpoint_bytes()) * saves, saving_, "written"),
                    format_duration(Seconds(stalled_ / saves)));
}

}  // namespace dts::train
