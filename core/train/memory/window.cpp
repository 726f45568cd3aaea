// SPDX-License-Identifier: Apache-2.0
#include "core/train/memory/window.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace dts::train {
namespace {

constexpr int k_gone = std::numeric_limits<int>::max();

void set(std::atomic<int>& place, int value) {
  place.store(value, std::memory_order_release);
  place.notify_all();
}

void wait_beyond(const std::atomic<int>& place, int value) {
  for (int now = 0; (now = place.load(std::memory_order_acquire)) <= value;)
    place.wait(now, std::memory_order_acquire);
}

}  // namespace

Window::Parts Window::parts_of(std::size_t begin, std::size_t end) const {
  if (begin >= end) return {};
  const auto& all = settings_.begins;
  const auto first = std::upper_bound(all.begin(), all.end(), begin) - 1;
  const auto last = std::lower_bound(all.begin(), all.end(), end);
  return {static_cast<int>(first - all.begin()), static_cast<int>(last - all.begin())};
}

void Window::begin(std::vector<Parts> places, int threads) {
  places_ = std::move(places);
  for (std::size_t i = 1; i < places_.size(); ++i) {
    if (places_[i].begin < places_[i].end) continue;
    const auto next = std::find_if(places_.begin() + static_cast<std::ptrdiff_t>(i),
                                   places_.end(),
                                   [](const Parts& one) { return one.begin < one.end; });
    if (next != places_.end())
      places_[i] = {std::max(places_[i - 1].begin, next->begin),
                    std::min(places_[i - 1].end, next->end)};
  }
  at_ = std::vector<std::atomic<int>>(static_cast<std::size_t>(threads));
  ready_.store(0, std::memory_order_release);
}

void Window::enter(int thread, int place) {
  set(at_[static_cast<std::size_t>(thread)], place);
  if (thread == 0) {
    move_to(place);
    set(ready_, place + 1);
  }
  wait_beyond(ready_, place);
}

void Window::leave(int thread) {
  set(at_[static_cast<std::size_t>(thread)], k_gone);
}

int Window::slowest() const {
  int place = k_gone;
  for (const auto& one : at_) place = std::min(place, one.load(std::memory_order_acquire));
  return place;
}

void Window::wait_until_past(int place) {
  for (const auto& one : at_) wait_beyond(one, place);
}

// Runs on the first thread. Others may still read the parts of earlier places.
void Window::move_to(int place) {
  constexpr std::size_t k_most_past = 4;  // parts that may wait for slower threads
  const Parts now = places_[static_cast<std::size_t>(place)];
  const Parts before = place == 0 ? kept_ : places_[static_cast<std::size_t>(place) - 1];
  for (int part = before.begin; part < before.end; ++part)
    if (!now.has(part)) past_.push_back({part, place - 1});
  const int past = slowest();
  std::erase_if(past_, [&](const Past& one) {
    const bool is_again = now.has(one.part) && !before.has(one.part);
    if (one.place >= past && !is_again && past_.size() <= k_most_past) return false;
    wait_until_past(one.place);
    drop(one);
    return true;
  });
  for (int part = now.begin; part < now.end; ++part)
    if (!before.has(part)) settings_.fetch(part);
}

void Window::end() {
  kept_ = places_.empty() ? Parts{} : places_.back();
  for (const Past& one : past_) drop(one);
  past_.clear();
  places_.clear();
}

void Window::clear() {
  for (int part = kept_.begin; part < kept_.end; ++part) settings_.drop(part);
  kept_ = {};
}

}  // namespace dts::train
