// SPDX-License-Identifier: Apache-2.0
// Which ranks are shown, and how the logs of several share one terminal.
#include "core/run/directory/rank_logs.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/unique_fd.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <optional>

namespace {

using namespace dts;
using namespace dts::run;
using Ranks = std::vector<unsigned>;

class Logs {
 public:
  explicit Logs(const std::string& ranks)
      : run_{folder_.path},
        fd_(::open(
            folder_.file("shown").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
    REQUIRE(make_folders(run_.attempt(1)));
    logs_.emplace(run_, 1, *parse_ranks(ranks));
  }

  void write(unsigned rank, const std::string& text) const {
    const UniqueFd fd(
        ::open(run_.rank_log(1, rank).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    REQUIRE(::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }

  bool poll() { return logs_->copy_to(fd_.get()).value(); }

  void rest() { CHECK(logs_->copy_rest(fd_.get())); }

  [[nodiscard]] std::string path(unsigned rank) const { return run_.rank_log(1, rank); }

  [[nodiscard]] std::string shown() const { return *read_file(folder_.file("shown")); }

 private:
  tests::TemporaryFolder folder_;
  RunDirectory run_;
  UniqueFd fd_;
  std::optional<RankLogs> logs_;
};

}  // namespace

TEST_CASE("ranks are named by numbers, ranges, or all") {
  CHECK(parse_ranks("all")->all);
  CHECK(parse_ranks("0")->ranks == Ranks{0});
  CHECK(parse_ranks("7,0,4-6,5")->ranks == Ranks{0, 4, 5, 6, 7});
  for (const char* wrong : {"", ",", "-1", "3-1", "1-", "a", "0,", "1-2-3", "99999999", "0 1"})
    CHECK_MESSAGE(!parse_ranks(wrong), std::string(wrong));
}

TEST_CASE("a selection knows its ranks; without a word it is none") {
  CHECK(is_selected(*parse_ranks("all"), 7));
  CHECK(is_selected(*parse_ranks("1,5-7"), 6));
  CHECK_FALSE(is_selected(*parse_ranks("1,5-7"), 4));
  CHECK_FALSE(is_selected({}, 0));
}

TEST_CASE("a set-up's log tells what Lmod reports, not the advice that follows") {
  Logs logs("0");
  const auto words = [&](const std::string& log, std::size_t most) {
    logs.write(0, log);
    return join(last_lines_of_set_up(logs.path(0), most), "|");
  };
  const std::string lmod = "Lmod has detected the following error: ";
  CHECK(last_lines_of_set_up(logs.path(0), 3).empty());
  CHECK(words("1\n2\n3\n\n \n", 2) == "2|3");
  CHECK(words(lmod + "a\nb\nsome\nadvice\n\n", 9) == lmod + "a|b|some|advice");
  CHECK(words("before\n" + lmod + "x\n" + lmod + "a\nb\nc\nd\n", 2) == lmod + "a|b");
}

TEST_CASE("the last words of a log are its last lines, of a flood a part, of no log none") {
  Logs logs("0");
  CHECK(last_lines(logs.path(0), 3).empty());
  logs.write(0, "");
  CHECK(last_lines(logs.path(0), 3).empty());
  logs.write(0, "one\ntwo\n\nfour\n");
  CHECK(last_lines(logs.path(0), 3) == std::vector<std::string>{"two", "", "four"});
  CHECK(last_lines(logs.path(0), 9).size() == 4);
  logs.write(0, std::string(1 << 20, 'x') + "end");
  const auto last = last_lines(logs.path(0), 9);
  REQUIRE(last.size() == 1);
  CHECK(last[0].size() == 64 << 10);
  CHECK(last[0].ends_with("xend"));
}

TEST_CASE("one rank alone is shown as it wrote") {
  Logs logs("3");
  logs.write(3, "half");
  CHECK(logs.poll());
  CHECK(logs.shown() == "half");
}

TEST_CASE("of several ranks each line is whole and says whose it is") {
  Logs logs("0-1");
  logs.write(0, "a\nb");
  logs.write(1, "c\n");
  CHECK(logs.poll());
  CHECK(logs.shown() == "[0] a\n[1] c\n");
  CHECK_FALSE(logs.poll());
  logs.write(0, "b\n");
  logs.write(1, "no newline");
  CHECK(logs.poll());
  logs.rest();
  CHECK(logs.shown() == "[0] a\n[1] c\n[0] bb\n[1] no newline\n");
}

TEST_CASE("a progress bar does not write over the rank's number") {
  Logs logs("0-1");
  logs.write(0, "\r10%\r\x1b[K50%\rdone\n");
  logs.write(1, "of DOS\r\nlast\r");
  logs.rest();
  CHECK(logs.shown() == "[0] \r[0] 10%\r[0] \x1b[K50%\r[0] done\n[1] of DOS\r\n[1] last\r\n");
}

TEST_CASE("all takes up logs that appear later, in the order of ranks") {
  Logs logs("all");
  CHECK_FALSE(logs.poll());
  logs.write(10, "ten\n");
  logs.write(2, "two\n");
  CHECK(logs.poll());
  logs.write(1, "one\n");
  CHECK(logs.poll());
  CHECK(logs.shown() == "[2] two\n[10] ten\n[1] one\n");
}

TEST_CASE("a rank that floods its log lets the others through") {
  Logs logs("all");
  logs.write(0, std::string(8 << 20, 'x') + "\n");
  logs.write(1, "heard\n");
  CHECK(logs.poll());
  CHECK(logs.shown().find("[1] heard") != std::string::npos);
  CHECK(logs.shown().size() < 2 << 20);
}
