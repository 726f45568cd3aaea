// SPDX-License-Identifier: Apache-2.0
// A thousand ranks in a few lines, and how an attempt uses them.
#include "core/launch/binding/binding_report.hpp"

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/launch/job_story.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace {

using namespace dts;
using namespace dts::launch;
using namespace std::chrono_literals;
using run::Cause;

// Of `nodes` nodes with eight ranks of four cores each.
std::vector<RankBound> many(unsigned nodes) {
  std::vector<RankBound> ranks;
  for (unsigned rank = 0; rank < 8 * nodes; ++rank) {
    RankBound& one = ranks.emplace_back();
    one.rank = rank;
    one.node = fmt::format("n{:03}", rank / 8);
    for (unsigned core = 0; core < 4; ++core) one.planned.cpus.push_back(rank % 8 * 4 + core);
    one.planned.memory = {plan::MemoryPolicy::Kind::bind, {rank % 8 / 4}};
    one.found.cpus = one.planned.cpus;
    one.found.memory = one.planned.memory;
    one.found.settled = true;
    one.found.threads = {{"python3", "", one.found.cpus, 20 + rank % 3, 4}};
  }
  return ranks;
}

BindingReport report_of(const std::vector<RankBound>& ranks) {
  return {2, 3, "2026-11-21T12:00:00Z", true, group_by_binding(ranks)};
}

// What a rank of a JobStory reports about itself, with `change`.
template <class Change>
Bound bound(const JobStory& job, unsigned rank, const Change& change) {
  BoundState state;
  state.cpus = const_cast<JobStory&>(job).attempt().placements().at(rank).cpus;
  change(state);
  return {to_text(state)};
}

Bound bound(const JobStory& job, unsigned rank) {
  return bound(job, rank, [](BoundState&) {});
}

void all_bound(JobStory& job) {
  for (unsigned rank = 0; rank < job.world(); ++rank)
    job.says(JobStory::peer_of(rank), bound(job, rank));
}

bool has_words(const std::vector<std::string>& lines, const std::string& words) {
  for (const std::string& line : lines)
    if (line.find(words) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("a thousand ranks as planned take one line per place on a node") {
  const auto lines = in_lines(report_of(many(125)));
  REQUIRE(lines.size() == 8);
  CHECK(lines[0] ==
        "ranks 0-992:8 of n[000-124]: cores 0-3 as planned, memory bind 0, "
        "20 to 22 threads too");
  CHECK(lines[7].find("ranks 7-999:8 of n[000-124]: cores 28-31 as planned, memory bind 1") == 0);
}

TEST_CASE("the binding of OpenMP's threads is reported with the rest") {
  auto ranks = many(1);
  for (RankBound& rank : ranks) {
    rank.planned = ranks[0].planned;
    rank.found = ranks[0].found;
    rank.found.thread_places = rank.rank < 4 ? "OpenMP threads by OMP_PLACES" : "others";
  }
  const auto lines = in_lines(report_of(ranks));
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].find("cores 0-3 as planned, memory bind 0, 20 threads too; "
                      "OpenMP threads by OMP_PLACES") != std::string::npos);
  CHECK(lines[1].find("ranks 4-7") == 0);
}

TEST_CASE("ranks with the same problem share a line, and come first") {
  auto ranks = many(2);
  for (const unsigned rank : {1U, 9U})
    ranks[rank].found.threads.push_back({"python3", "", {4}, 10 + rank, 3 + rank});
  const auto report = report_of(ranks);
  CHECK(report.has_mismatch());
  const auto lines = in_lines(report);
  REQUIRE(lines.size() == 8);
  CHECK(lines[0] ==
        "ranks 1,9 of n[000-001]: 12 threads of python3 share core 4 of the planned 4-7: moved by "
        "the "
        "program itself");
  CHECK_FALSE(report_of(many(2)).has_mismatch());
}

TEST_CASE("very many different ranks still take few lines, and the file has all of them") {
  auto ranks = many(20);
  for (RankBound& one : ranks) one.found.cpus.push_back(1000 + one.rank);
  const auto report = report_of(ranks);
  CHECK(report.groups.size() == 160);
  const auto lines = in_lines(report);
  CHECK(lines.size() == 17);
  CHECK(lines.back() == "and 144 more groups of ranks, in binding.json");
  const auto back = binding_report_from(to_json(report));
  REQUIRE(back);
  CHECK(*back == report);
}

TEST_CASE("binding.json is written and read, and damaged files are refused") {
  const tests::TemporaryFolder folder;
  const run::RunDirectory run{folder.path};
  REQUIRE(make_folders(run.attempt(2)));
  CHECK(read_binding(run, 2).error().code == Errc::not_found);
  const auto report = report_of(many(3));
  REQUIRE(write_binding(run, report));
  CHECK(read_binding(run, 2) == report);
  const std::string good = to_json(report);
  for (const auto& [part, wrong] : {std::pair{"dtsubmit/binding/1", "dtsubmit/binding/2"},
                                    {"\"ranks\": \"0", "\"ranks\": \"x"},
                                    {"\"nodes\": \"n", "\"nodes\": \"["},
                                    {"\"number\": 3", "\"number\": -3"},
                                    {"\"settled\": true", "\"settled\": 1"}}) {
    std::string text = good;
    REQUIRE(text.find(part) != std::string::npos);
    text.replace(text.find(part), std::string(part).size(), wrong);
    CHECK_FALSE(binding_report_from(text));
  }
  CHECK_FALSE(binding_report_from("{"));
}

TEST_CASE("an attempt reports its ranks' bindings once they run, and again when one has moved") {
  JobStory job(2, 2);
  job.all_hello().listening(20001).all_reached();
  all_bound(job);
  CHECK_FALSE(job.attempt().take_binding());
  job.all_started().wait(1s);
  const auto first = job.attempt().take_binding();
  REQUIRE(first);
  CHECK(first->groups.size() == 2);
  CHECK_FALSE(first->has_mismatch());
  CHECK(
      has_words(job.attempt().take_notes(), "binding: ranks 0,2 of n[0-1]: cores 0,1 as planned"));

  const auto settled = [](BoundState& state) {
    state.settled = true;
    state.threads = {{"a", "", {0}, 5, 5}};
  };
  job.says(JobStory::peer_of(0), bound(job, 0, settled)).wait(1s);
  CHECK_FALSE(job.attempt().take_binding());  // waits for the others
  job.wait(5s);
  const auto second = job.attempt().take_binding();
  REQUIRE(second);
  CHECK(second->number == 2);
  CHECK(second->has_mismatch());
  const auto events = job.attempt().take_events();
  REQUIRE(events.size() == 1);
  CHECK(events[0].is<run::Binding>());
  CHECK(
      run::detail_of(events[0]) ==
      "rank 0 of n0: 5 threads of a share core 0 of the planned 0,1: moved by the program itself");
  job.says(JobStory::peer_of(0), bound(job, 0, settled)).wait(6s);
  CHECK(job.attempt().take_events().empty());  // reported once
  CHECK_FALSE(job.over());
}

TEST_CASE("a strict attempt ends if a rank is not bound as planned, and is not retried") {
  JobStory job(2, 2);
  job.strict_binding();
  job.all_hello().listening(20001).all_reached();
  CHECK(job.told<Go>(3).at(0).strict_binding);
  job.says(JobStory::peer_of(3), bound(job, 3, [](BoundState& state) { state.cpus = {0}; }));
  CHECK(job.count<Kill>() == 4);
  job.killed_ranks_exit();
  check_ended(job, Cause::wrong_binding, "rank 3 on n1 is bound to core 0, planned 2,3");
  CHECK(job.outcome().exit_code == 3);
}

TEST_CASE("a strict attempt whose threads move later saves and ends") {
  JobStory job(2, 2);
  job.strict_binding();
  job.all_hello().listening(20001).all_reached();
  all_bound(job);
  job.all_started().wait(1s);
  CHECK(job.count<Stop>() == 0);
  job.says(JobStory::peer_of(1), bound(job, 1, [](BoundState& state) {
             state.settled = true;
             state.threads = {{"a", "", {0}, 1, 0}};
           }));
  job.wait(6s);
  CHECK(job.count<Stop>() == 4);
  job.all_exit(85);
  check_ended(job, Cause::wrong_binding, "1 thread of a may run on core 0, outside of the planned");
  CHECK(job.outcome().exit_code == 3);
}

TEST_CASE("a request to verify makes every rank read its binding again") {
  JobStory job(1, 2);
  job.attempt().on_verify();  // no rank runs yet
  job.running();
  CHECK(job.count<ReadBack>() == 0);
  job.attempt().on_verify();
  job.wait(1s);
  CHECK(job.count<ReadBack>() == 2);
  job.says(JobStory::peer_of(0), Bound{"nonsense"});
  CHECK(has_words(job.attempt().take_notes(), "rank 0 on n0: a rank's binding: "));
}
