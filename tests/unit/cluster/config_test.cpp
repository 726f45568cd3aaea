// SPDX-License-Identifier: Apache-2.0
#include "core/cluster/layout/config.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dts::cluster;

Layout small_layout() {
  Layout layout;
  layout.spec.name = "lab";
  layout.spec.folder = "/var/lab";
  layout.spec.grace = 7;
  layout.endpoints = {5, 6, 21000};
  layout.user = "ada";
  layout.memory_mib = 4096;
  return layout;
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

unsigned count_of(const std::string& text, const std::string& part) {
  unsigned count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("slurm.conf gives every node an address, a port and the GPUs of its own") {
  const std::string text = render_slurm_conf(small_layout());
  CHECK(has_line(
      text,
      "NodeName=n0 NodeHostname=n0 NodeAddr=127.5.6.2 Port=21001 CPUs=8 Sockets=1 CoresPerSocket=8 "
      "ThreadsPerCore=1 RealMemory=4096 Gres=gpu:8 State=UNKNOWN"));
  CHECK(has_line(
      text,
      "NodeName=n1 NodeHostname=n1 NodeAddr=127.5.6.3 Port=21002 CPUs=8 Sockets=1 CoresPerSocket=8 "
      "ThreadsPerCore=1 RealMemory=4096 Gres=gpu:8 State=UNKNOWN"));
  CHECK(has_line(text, "SlurmctldHost=localhost(127.5.6.1)"));
  CHECK(has_line(text, "SlurmctldPort=21000"));
}

TEST_CASE("two clusters of one machine never give out the same job ids") {
  Layout other = small_layout();
  CHECK(has_line(render_slurm_conf(other), "FirstJobId=150001"));
  other.endpoints.port = 21066;  // the next block of ports
  CHECK(has_line(render_slurm_conf(other), "FirstJobId=160001"));
  other.spec.extra = {"FirstJobId=7"};
  CHECK(has_line(render_slurm_conf(other), "FirstJobId=7"));
}

TEST_CASE("clusters without a name in different folders have different names for Slurm") {
  Layout layout = small_layout();
  CHECK(has_line(render_slurm_conf(layout), "ClusterName=lab"));
  layout.spec.name = ClusterSpec{}.name;
  const std::string name = slurm_name(layout.spec);
  CHECK(name.starts_with("default-"));
  CHECK(has_line(render_slurm_conf(layout), "ClusterName=" + name));
  layout.spec.folder += "2";
  CHECK(slurm_name(layout.spec) != name);
  layout.spec.folder = clusters_folder().value() + "/default";
  CHECK(slurm_name(layout.spec) == "default");
}

TEST_CASE("slurm.conf has a preemptible default partition and one that preempts it") {
  const std::string text = render_slurm_conf(small_layout());
  CHECK(has_line(
      text,
      "PartitionName=low Nodes=n[0-1] Default=YES MaxTime=INFINITE State=UP PriorityTier=1 "
      "PreemptMode=REQUEUE GraceTime=7"));
  CHECK(has_line(
      text,
      "PartitionName=high Nodes=n[0-1] Default=NO MaxTime=INFINITE State=UP PriorityTier=10 "
      "PreemptMode=OFF"));
}

TEST_CASE("every file, pid, spool and log of slurm.conf lies below the folder") {
  const std::string text = render_slurm_conf(small_layout());
  for (const char* key : {"StateSaveLocation",
                          "SlurmdSpoolDir",
                          "SlurmctldPidFile",
                          "SlurmdPidFile",
                          "SlurmctldLogFile",
                          "SlurmdLogFile",
                          "TmpFS"}) {
    CAPTURE(key);
    CHECK(text.find(std::string(key) + "=/var/lab/") != std::string::npos);
  }
}

TEST_CASE("the same layout gives the same bytes") {
  CHECK(render_slurm_conf(small_layout()) == render_slurm_conf(small_layout()));
}

TEST_CASE("a single node is named without brackets, which Slurm's File= would take literally") {
  Layout layout = small_layout();
  layout.spec.nodes = 1;
  layout.spec.gpus_per_node = 1;
  CHECK(render_gres_conf(layout) == "NodeName=n0 Name=gpu File=/var/lab/gpu/gpu0\n");
  CHECK(render_slurm_conf(layout).find("Nodes=n0 ") != std::string::npos);
}

TEST_CASE("gres.conf names as many devices as a node claims") {
  CHECK(render_gres_conf(small_layout()) ==
        "NodeName=n[0-1] Name=gpu File=/var/lab/gpu/gpu[0-7]\n");
  CHECK(gpu_path("/var/lab", 7) == "/var/lab/gpu/gpu7");
}

TEST_CASE("a cluster without GPUs says nothing of them") {
  Layout layout = small_layout();
  layout.spec.gpus_per_node = 0;
  CHECK(render_gres_conf(layout).empty());
  CHECK(render_slurm_conf(layout).find("gpu") == std::string::npos);
  CHECK(render_slurm_conf(layout).find(" CPUs=4 ") != std::string::npos);
}

TEST_CASE("proctrack/cgroup brings a cgroup.conf, proctrack/linuxproc none") {
  Layout layout = small_layout();
  CHECK(render_cgroup_conf(layout).empty());
  CHECK(has_line(render_slurm_conf(layout), "ProctrackType=proctrack/linuxproc"));
  layout.spec.proctrack = Proctrack::cgroup;
  CHECK(has_line(render_cgroup_conf(layout), "CgroupPlugin=cgroup/v1"));
  CHECK(has_line(render_slurm_conf(layout), "ProctrackType=proctrack/cgroup"));
  CHECK(has_line(render_slurm_conf(layout), "TaskPlugin=task/none"));
  CHECK(has_line(render_cgroup_conf(layout), "ConstrainCores=no"));
  layout.spec.constrain_cores = true;
  CHECK(has_line(render_slurm_conf(layout), "TaskPlugin=task/affinity,task/cgroup"));
  CHECK(has_line(render_cgroup_conf(layout), "ConstrainCores=yes"));
}

TEST_CASE("without host names of their own the nodes answer to the machine's") {
  Layout layout = small_layout();
  layout.own_host_names = false;
  CHECK(render_slurm_conf(layout).find("NodeName=n1 NodeHostname=localhost ") != std::string::npos);
}

TEST_CASE("the nodes' names have addresses, below what the machine knows") {
  const Layout layout = small_layout();
  const std::string nodes =
      layout.endpoints.node_address(0) + " n0\n" + layout.endpoints.node_address(1) + " n1\n";
  CHECK(render_hosts(layout, "") == nodes);
  CHECK(render_hosts(layout, "127.0.0.1 localhost") == "127.0.0.1 localhost\n" + nodes);
  CHECK(render_hosts(layout, "127.0.0.1 localhost\n") == "127.0.0.1 localhost\n" + nodes);
}

TEST_CASE("sockets share the CPUs of a node evenly") {
  Layout layout = small_layout();
  layout.spec.cpus_per_node = 12;
  layout.spec.sockets = 2;
  CHECK(render_slurm_conf(layout).find("CPUs=12 Sockets=2 CoresPerSocket=6 ") != std::string::npos);
}

TEST_CASE("an extra line replaces ours of the same key, whatever its case") {
  Layout layout = small_layout();
  layout.spec.extra = {"killwait=9", "RequeueExit=85", "requeueexit=86"};
  const std::string text = render_slurm_conf(layout);
  CHECK(has_line(text, "killwait=9"));
  CHECK(text.find("KillWait=") == std::string::npos);
  CHECK(has_line(text, "requeueexit=86"));
  CHECK(text.find("RequeueExit=85") == std::string::npos);
}

TEST_CASE("an extra partition is added to ours") {
  Layout layout = small_layout();
  layout.spec.extra = {"PartitionName=slow Nodes=n0"};
  CHECK(count_of(render_slurm_conf(layout), "\nPartitionName=") == 3);
}

TEST_CASE("node names follow the prefix") {
  Layout layout = small_layout();
  layout.node_prefix = "nb";
  CHECK(node_name(layout, 3) == "nb3");
  CHECK(render_slurm_conf(layout).find("Nodes=nb[0-1]") != std::string::npos);
}

TEST_CASE("only the configuration of the start makes daemons listen narrowly") {
  CHECK(has_line(render_start_conf(small_layout()),
                 "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny"));
  CHECK(is_start_conf(render_start_conf(small_layout())));
  CHECK_FALSE(is_start_conf(render_slurm_conf(small_layout())));
}
