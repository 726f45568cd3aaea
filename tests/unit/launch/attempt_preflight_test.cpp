// SPDX-License-Identifier: Apache-2.0
// Nodes are measured while their ranks meet: who is asked, what is awaited, and how an unfit node
// affects the attempt.
#include "core/base/text/text.hpp"
#include "tests/unit/launch/job_story.hpp"

#include <doctest/doctest.h>

#include <cerrno>

namespace {

using namespace dts;
using namespace dts::launch;
using namespace std::chrono_literals;
using run::Cause;

NodeFacts roomy() {
  NodeFacts facts;
  facts.run_free = facts.memory = facts.shm_free = std::uint64_t{1} << 40;
  return facts;
}

NodeFacts with_shm(int error) {
  NodeFacts facts = roomy();
  facts.shm_errno = error;
  return facts;
}

NodeFacts full_tmp(const std::string& other) {
  NodeFacts facts = roomy();
  facts.tmp = "/tmp";
  facts.tmp_errno = ENOSPC;
  facts.other_tmp = other;
  return facts;
}

NodeFacts unwritable(int error) {
  NodeFacts facts = roomy();
  facts.write_errno = error;
  return facts;
}

// Four ranks on two nodes that must be measured.
struct Checked : JobStory {
  explicit Checked(unsigned nodes = 2) : JobStory(nodes, 2, 0, 10s) {}

  Checked& meet() {
    all_hello().listening(20001).all_reached();
    return *this;
  }

  Checked& node_says(unsigned node, const NodeFacts& facts) {
    says(peer_of(2 * node), Measured{to_text(facts)});
    return *this;
  }

  // Its clock is that of the agent plus `ahead`.
  Checked& clock(unsigned node, std::chrono::milliseconds ahead = 0ms) {
    says(peer_of(2 * node), ClockReading{(wall_now() + ahead).count()});
    return *this;
  }

  Checked& clocks() {
    for (unsigned node = 0; node < world() / 2; ++node) clock(node);
    return *this;
  }

  [[nodiscard]] std::string notes() { return join(attempt().take_notes(), "\n"); }
};

}  // namespace

TEST_CASE("the first rank of each node is asked, and no program starts before all have answered") {
  Checked job;
  job.meet();
  CHECK(job.told<AskClock>(0).size() == 1);
  CHECK(job.told<AskClock>(2).size() == 1);
  CHECK(job.count<AskClock>() == 2);
  CHECK(job.count<Go>() == 0);
  job.node_says(0, roomy()).clock(0).node_says(1, roomy());
  CHECK(job.count<Go>() == 0);
  job.clock(1);
  CHECK(job.count<Go>() == 4);
  CHECK(job.notes().find("pre-flight") == std::string::npos);
  job.all_started();
  CHECK(job.attempt().take_started());
}

TEST_CASE("answers that arrive before the rendezvous delay nothing") {
  Checked job;
  job.all_hello().listening(20001);
  job.node_says(0, roomy()).node_says(1, roomy()).clocks();
  CHECK(job.count<Go>() == 0);
  job.all_reached();
  CHECK(job.count<Go>() == 4);
}

TEST_CASE("without --preflight no rank is asked") {
  JobStory job;
  job.running();
  CHECK(job.count<AskClock>() == 0);
  CHECK(job.attempt().take_started());
}

TEST_CASE("an unfit node ends the attempt by name; the other stays in use") {
  Checked job;
  job.meet().clocks().node_says(1, with_shm(ENOSPC)).node_says(0, roomy());
  CHECK(job.count<Go>() == 0);
  job.killed_ranks_exit();
  check_ended(job, Cause::launch_failed, "pre-flight: n1: cannot write in /dev/shm");
  CHECK(job.outcome().node == "n1");
  REQUIRE(job.outcome().unfit.size() == 1);
  CHECK(job.outcome().unfit[0].node == "n1");
  CHECK(job.outcome().unfit[0].why.find("No space left") != std::string::npos);
}

TEST_CASE("every unfit node is named at once") {
  Checked job(3);
  job.meet().clocks().node_says(0, unwritable(EROFS)).node_says(1, roomy());
  job.node_says(2, with_shm(EACCES)).killed_ranks_exit();
  check_ended(job, Cause::launch_failed, "n0: cannot write in the run directory");
  CHECK(job.says_why("n2: cannot write in /dev/shm"));
  CHECK(job.outcome().unfit.size() == 2);
}

TEST_CASE("a problem on all nodes, or a full disk, is no single node's fault") {
  Checked shared;
  shared.meet().clocks().node_says(0, with_shm(ENOSPC)).node_says(1, with_shm(ENOSPC));
  shared.killed_ranks_exit();
  check_ended(shared, Cause::launch_failed, "on every node of the job");
  CHECK(shared.outcome().node.empty());
  Checked disk;
  disk.meet().clocks().node_says(0, unwritable(ENOSPC)).node_says(1, unwritable(EDQUOT));
  disk.killed_ranks_exit();
  check_ended(disk, Cause::disk_full, "No space left");
  CHECK(disk.outcome().unfit.empty());
  Checked alone(1);
  alone.meet().clocks().node_says(0, unwritable(ENOSPC)).killed_ranks_exit();
  check_ended(alone, Cause::disk_full, "No space left");
  Checked broken(1);
  broken.meet().clocks().node_says(0, unwritable(EROFS)).killed_ranks_exit();
  check_ended(broken, Cause::launch_failed, "Read-only");
  CHECK(broken.outcome().node == "n0");
}

TEST_CASE("a full /tmp on every node ends only programs that need it") {
  Checked some;
  some.meet().clocks().node_says(0, full_tmp("/var/tmp")).node_says(1, roomy());
  some.killed_ranks_exit();
  check_ended(some, Cause::launch_failed, "n0: cannot write in /tmp");
  Checked all;
  all.meet().clocks().node_says(0, full_tmp("/var/tmp")).node_says(1, full_tmp("/var/tmp"));
  CHECK(all.count<Go>() == 4);
  CHECK(all.notes().find("a warning: n1: cannot write in /tmp") != std::string::npos);
  Checked none;
  none.meet().clocks().node_says(0, full_tmp("/var/tmp")).node_says(1, full_tmp(""));
  none.killed_ranks_exit();
  check_ended(none, Cause::launch_failed, "on every node of the job");
}

TEST_CASE("a node that answers late is unfit; if most are late, it is the file system") {
  Checked one;
  one.meet().clocks().node_says(0, roomy()).wait(9s);
  CHECK_FALSE(one.over());
  one.wait(1s).killed_ranks_exit();
  check_ended(one, Cause::launch_failed, "n1: its checks did not end within 10 s");
  Checked most(3);
  most.meet().clocks().node_says(0, roomy()).wait(10s);
  CHECK(most.count<Go>() == 6);
  CHECK(most.notes().find("a warning: n2: its checks did not end") != std::string::npos);
  most.node_says(1, with_shm(ENOSPC)).all_started().wait(1s);  // too late to matter
  CHECK_FALSE(most.over());
}

TEST_CASE("a wrong clock is a warning") {
  Checked job;
  job.meet().node_says(0, roomy()).node_says(1, roomy()).clock(0).clock(1, -90s);
  CHECK(job.count<Go>() == 4);
  const std::string notes = job.notes();
  CAPTURE(notes);
  CHECK(notes.find("a warning: n1: its clock is 90.0 s behind the agent's") != std::string::npos);
  CHECK(notes.find("n0") == std::string::npos);
}

TEST_CASE("invalid facts end the attempt") {
  Checked job;
  job.meet().says(JobStory::peer_of(2), Measured{"{}"});
  job.killed_ranks_exit();
  check_ended(job, Cause::launch_failed, "rank 2 on n1: a node's facts");
}
