// SPDX-License-Identifier: Apache-2.0
// What a rank's process derives from its program's reports of steps and saves.
#include "core/launch/wire/pace.hpp"

#include <doctest/doctest.h>

using namespace dts::launch;
using namespace std::chrono_literals;
using Time = PaceWatch::Time;

namespace {

// A program whose step ends every `each`, checked every second; `work` is the time a step took.
class Looks {
 public:
  explicit Looks(std::chrono::seconds each = 1s) : each_(each) {}

  Looks& step(std::uint64_t work, std::uint64_t input = 0) {
    ++step_;
    for (auto i = each_.count(); i > 0; --i)
      watch.observe(step_, save_, work, input, Time(std::chrono::seconds(++now_)));
    return *this;
  }

  Looks& steps(unsigned count, std::uint64_t work, std::uint64_t input = 0) {
    while (count-- > 0) step(work, input);
    return *this;
  }

  Looks& save(std::uint64_t took) {
    save_ = took;
    watch.observe(step_, save_, 0, 0, Time(std::chrono::seconds(++now_)));
    return *this;
  }

  PaceWatch watch;

 private:
  std::chrono::seconds each_;
  std::uint64_t step_ = 0;
  std::uint64_t save_ = 0;
  long now_ = 0;
};

}  // namespace

TEST_CASE("a program that reports nothing has no pace") {
  Looks looks;
  looks.steps(100, 0);
  CHECK(looks.watch.pace() == Pace{});
  CHECK_FALSE(looks.watch.take_news());
}

TEST_CASE("the work is known after 20 steps, or after five steps and half a minute") {
  struct Row {
    std::chrono::seconds each;
    unsigned before;  // steps after which it is not yet known
  };

  for (const Row& row : {Row{1s, 19}, Row{3s, 10}, Row{10s, 4}, Row{100s, 4}}) {
    CAPTURE(row.each.count());
    Looks looks(row.each);
    looks.steps(row.before, 200, 20);
    CHECK(looks.watch.pace().work == 0);
    CHECK_FALSE(looks.watch.take_news());
    looks.step(200, 20);
    CHECK(looks.watch.pace().work == 200);
    CHECK(looks.watch.pace().input == 20);
    CHECK(looks.watch.take_news());
    CHECK_FALSE(looks.watch.take_news());
  }
}

TEST_CASE("slow moments do not change it, and only the last 20 steps count") {
  Looks looks;
  looks.steps(14, 200).steps(6, 5000);
  CHECK(looks.watch.pace().work == 200);
  looks.steps(8, 600);
  CHECK(looks.watch.pace().work == 600);  // 6 of 200 ms are left, 8 of 600, 6 of 5000
  looks.steps(20, 100);
  CHECK(looks.watch.pace().work == 100);
}

TEST_CASE("a long step is one step, however often it is checked") {
  Looks looks(60s);
  looks.steps(4, 59'000);
  CHECK(looks.watch.pace().work == 0);
}

TEST_CASE("saves: the first is news, and the median of five is reported") {
  Looks looks;
  CHECK(looks.watch.pace().save == 0);
  looks.save(3000);
  CHECK(looks.watch.pace().save == 3000);
  CHECK(looks.watch.pace().saves == 1);
  CHECK(looks.watch.take_news());
  looks.save(9000).save(3100).save(3200).save(3300);
  CHECK_FALSE(looks.watch.take_news());
  CHECK(looks.watch.pace().save == 3200);
  CHECK(looks.watch.pace().saves == 5);
  looks.save(8000).save(8001).save(8002);
  CHECK(looks.watch.pace().save == 8000);
}

TEST_CASE("input is never more than the work that includes it") {
  Looks looks;
  looks.steps(20, 100, 5000);
  CHECK(looks.watch.pace().input == 100);
}
