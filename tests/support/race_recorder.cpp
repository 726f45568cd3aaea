// SPDX-License-Identifier: Apache-2.0
#include "tests/support/race_recorder.hpp"

#include <algorithm>
#include <iterator>

// Splits the cell that contains `at`, so that a cell begins there.
void RaceRecorder::cut(std::uintptr_t at) {
  auto after = cells_.upper_bound(at);
  if (after == cells_.begin()) return;
  auto& [begin, cell] = *std::prev(after);
  if (begin == at || cell.end <= at) return;
  Cell rest = cell;
  cell.end = at;
  cells_.emplace_hint(after, at, std::move(rest));
}

void RaceRecorder::compare(std::size_t actor, const Done& before, const std::string& what) {
  if (before.time <= clocks_[actor][before.actor]) return;
  const std::string race = before.what + " and " + what;
  if (std::find(races_.begin(), races_.end(), race) == races_.end()) races_.push_back(race);
}

void RaceRecorder::enter(Cell& cell, const Done& done, bool writes) {
  if (writes) {
    cell.write = done;
    cell.reads.clear();
    return;
  }
  const auto same = std::find_if(cell.reads.begin(), cell.reads.end(), [&](const Done& one) {
    return one.actor == done.actor;
  });
  if (same == cell.reads.end())
    cell.reads.push_back(done);
  else
    *same = done;
}

void RaceRecorder::access(std::size_t actor, Bytes bytes, bool writes, const std::string& what) {
  if (bytes.count == 0) return;
  const Done done{actor, ++clocks_[actor][actor], what};
  auto at = reinterpret_cast<std::uintptr_t>(bytes.at);
  const std::uintptr_t end = at + bytes.count;
  cut(at);
  cut(end);
  for (auto next = cells_.lower_bound(at); at < end; ++next) {
    if (next == cells_.end() || next->first > at) {  // not accessed before
      const std::uintptr_t gap_end = next == cells_.end() ? end : std::min(end, next->first);
      next = cells_.emplace_hint(next, at, Cell{gap_end, {}, {}});
    }
    Cell& cell = next->second;
    compare(actor, cell.write, what);
    if (writes)
      for (const Done& read : cell.reads) compare(actor, read, what);
    enter(cell, done, writes);
    at = cell.end;
  }
}

RaceRecorder::Clock RaceRecorder::event(std::size_t actor) {
  return clocks_[actor];
}

void RaceRecorder::wait(std::size_t actor, const Clock& event) {
  for (std::size_t other = 0; other < event.size(); ++other)
    clocks_[actor][other] = std::max(clocks_[actor][other], event[other]);
}
