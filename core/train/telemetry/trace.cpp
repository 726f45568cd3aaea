// SPDX-License-Identifier: Apache-2.0
#include "core/train/telemetry/trace.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::train {
namespace {

double microseconds(Stretch::Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

}  // namespace

void Trace::add(const std::string& name, const Stretch& stretch, std::size_t thread) {
  events_ += fmt::format(
      R"({{"name":"{}","cat":"{}","ph":"X","ts":{:.3f},"dur":{:.3f},"pid":{},"tid":{}}},)"
      "\n",
      name,
      to_string(stretch.phase),
      microseconds(stretch.begin - zero_),
      microseconds(stretch.end - stretch.begin),
      rank_,
      thread);
}

void Trace::add(const Timeline& timeline, std::uint64_t step) {
  if (is_full()) return;
  ++taken_;
  Stretch whole{.begin = Stretch::Clock::time_point::max(), .end = zero_};
  for (std::size_t thread = 0; thread < timeline.tracks().size(); ++thread)
    for (const Stretch& one : timeline.tracks()[thread].stretches()) {
      const bool is_named = *one.name != '\0';
      add(is_named ? one.name : to_string(one.phase), one, thread);
      whole.begin = std::min(whole.begin, one.begin);
      if (one.phase == Phase::optimizer) whole.end = one.end;
    }
  if (whole.begin < whole.end) add(fmt::format("step {}", step), whole, 0);
}

std::string trace_file(const std::vector<std::string>& events_of_ranks) {
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (const std::string& events : events_of_ranks) text += events;
  for (std::size_t rank = 0; rank < events_of_ranks.size(); ++rank)
    text += fmt::format(
        R"({}{{"name":"process_name","ph":"M","pid":{},"tid":0,"args":{{"name":"rank {}"}}}})",
        rank == 0 ? "" : ",\n",
        rank,
        rank);
  return text + "\n]}\n";
}

}  // namespace dts::train
