// SPDX-License-Identifier: Apache-2.0
// Where the kernel counts its kills, and reading the count.
#include "core/launch/program/oom.hpp"

#include <doctest/doctest.h>

#include <csignal>

using namespace dts::launch;

TEST_CASE("the counter of each cgroup version is found") {
  struct Case {
    const char* proc_self_cgroup;
    const char* file;
  };

  for (const Case& one : {
           Case{"0::/system.slice/job_7/step_0\n",
                "/sys/fs/cgroup/system.slice/job_7/step_0/memory.events"},
           Case{"9:cpuset:/a\n5:memory:/slurm/uid_0/job_3/step_0/task_1\n0::/b\n",
                "/sys/fs/cgroup/memory/slurm/uid_0/job_3/step_0/task_1/memory.oom_control"},
           Case{"4:cpu,memory,io:/x\n", "/sys/fs/cgroup/memory/x/memory.oom_control"},
           Case{"5:memory:/\n0::/only/unified\n", "/sys/fs/cgroup/only/unified/memory.events"},
           Case{"0::/\n", ""},
           Case{"", ""},
           Case{"nonsense\n1:\n", ""},
           Case{"1:name=systemd:/a:b\n0::/with:colon\n", "/sys/fs/cgroup/with:colon/memory.events"},
       }) {
    CAPTURE(one.proc_self_cgroup);
    CHECK(oom_counter_file(one.proc_self_cgroup) == one.file);
  }
}

TEST_CASE("the count is read from memory.events, memory.oom_control and /proc/vmstat alike") {
  CHECK(oom_kills_in("low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n") == 2U);
  CHECK(oom_kills_in("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n") == 1U);
  CHECK(oom_kills_in("pgfault 12\noom_kill 0\nnuma_hit 4") == 0U);
  CHECK_FALSE(oom_kills_in("oom_kill_disable 0\nunder_oom 0\n"));
  CHECK_FALSE(oom_kills_in("oom_kill x\n"));
  CHECK_FALSE(oom_kills_in(""));
}

TEST_CASE("a process that ended by itself was not killed by the OOM killer") {
  const OomCounter counter;
  for (const int code : {0, 1, 85, 128 + SIGTERM, 128 + SIGKILL})
    CHECK_FALSE(counter.explains(code));
}
