// SPDX-License-Identifier: Apache-2.0
// Which of the limits of QOS, associations and partitions apply to a job: precedence as measured
// with Slurm 22.05.8 (tests/integration/accounting_limits.py).
#include "plugins/slurm_shared/limits.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <map>

using nlohmann::json;
using namespace slurm_plugin;

namespace {

using Fields = std::map<std::string, std::string>;

Record record(const Fields& fields) {
  Record made;
  for (const auto& [name, value] : fields) made.add(name, value);
  return made;
}

// User ada, of account physics below science; QOS normal and small.
LimitFacts facts() {
  LimitFacts made;
  made.site = record({{"AccountingStorageEnforce", "associations,limits,qos"}});
  made.partitions = {record({{"PartitionName", "low"}, {"QoS", "N/A"}, {"AllowAccounts", "ALL"}})};
  made.qos = {
      record({{"Name", "normal"}}), record({{"Name", "small"}}), record({{"Name", "part"}})};
  made.accounts = {record({{"Account", "root"}, {"DefaultQOS", "normal"}}),
                   record({{"Account", "science"}, {"ParentName", "root"}}),
                   record({{"Account", "physics"}, {"ParentName", "science"}})};
  made.own = {record({{"Account", "physics"}, {"User", "ada"}, {"QOS", "normal,small"}})};
  made.account = "physics";
  return made;
}

// The names and places of the limits in the first partition.
std::string said(const LimitFacts& made) {
  const json reply = limits_json(made);
  std::string text;
  if (reply["partitions"].empty()) return text;
  for (const json& one : reply["partitions"][0]["limits"])
    text += one["name"].get<std::string>() + " " + one["place"].get<std::string>() + "; ";
  return text;
}

}  // namespace

TEST_CASE("a limit with all its members") {
  LimitFacts made = facts();
  made.qos[0].add("MaxTRES", "cpu=8,mem=1536M,gres/gpu:a100=2,license/x=1");
  const json limits = limits_json(made)["partitions"][0]["limits"];
  REQUIRE(limits.size() == 3);
  CHECK(limits[0] == json{{"of", "cpus"},
                          {"amount", 8},
                          {"name", "MaxTRESPerJob=cpu=8"},
                          {"place", "QOS normal gives a job"},
                          {"instead", "another --qos"}});
  CHECK(limits[1]["amount"] == 1536);
  CHECK(limits[2]["of"] == "gpus");
  CHECK(limits[2]["gpu_type"] == "a100");
}

TEST_CASE("a QOS overrides associations, each resource by itself") {
  LimitFacts made = facts();
  made.own[0].add("MaxTRES", "cpu=1,node=2");
  made.accounts[1].add("GrpTRES", "cpu=4");
  CHECK(said(made) ==
        "MaxTRESPerJob=cpu=1 your association with account physics gives a job; "
        "MaxTRESPerJob=node=2 your association with account physics gives a job; "
        "GrpTRES=cpu=4 account science gives all its jobs together; ");
  made.qos_asked = "small";
  made.qos[1].add("MaxTRES", "cpu=6");
  made.qos[1].add("GrpTRES", "cpu=9");
  CHECK(said(made) ==
        "MaxTRESPerJob=cpu=6 QOS small gives a job; "
        "MaxTRESPerJob=node=2 your association with account physics gives a job; "
        "GrpTRES=cpu=9 QOS small gives all its jobs together; ");
}

TEST_CASE("the QOS of the partition comes first, unless the job's overrides it") {
  LimitFacts made = facts();
  made.partitions = {record({{"PartitionName", "low"}, {"QoS", "part"}})};
  made.qos[2].add("MaxTRES", "cpu=2");
  made.qos[1].add("MaxTRES", "cpu=1,node=1");
  made.qos_asked = "small";
  CHECK(said(made) ==
        "MaxTRESPerJob=cpu=2 partition low's QOS part gives a job; "
        "MaxTRESPerJob=node=1 QOS small gives a job; ");
  made.qos[1].add("Flags", "DenyOnLimit,OverPartQOS");
  CHECK(said(made).find("MaxTRESPerJob=cpu=1 QOS small") == 0);
}

TEST_CASE("what Slurm does not check, or might not") {
  LimitFacts made = facts();
  made.qos[0].add("GrpTRESMins", "cpu=10");  // used up some day, but the job starts
  made.qos[0].add("GrpWall", "00:10:00");
  made.qos[0].add("GrpJobs", "3");
  CHECK(said(made).empty());
  made.qos[0].add("Flags", "DenyOnLimit");
  CHECK(said(made).find("GrpTRESMins=cpu=10") == 0);
  CHECK(said(made).find("GrpWall=00:10:00") != std::string::npos);
  made.qos[0] = record({{"Name", "normal"}, {"MaxWall", "00:10:00"}, {"Flags", "UsageFactorSafe"}});
  CHECK(said(made).empty());
  made.qos[0] = record({{"Name", "normal"}, {"MaxTRES", "cpu=10"}, {"Flags", "Relative"}});
  CHECK(said(made).empty());
  made.qos[0] = record({{"Name", "normal"}, {"MinTRES", "node=2"}});
  CHECK_FALSE(said(made).empty());
  made.partitions[0].add("OverSubscribe", "EXCLUSIVE");
  CHECK(said(made).empty());
  made = facts();
  made.site = record({{"AccountingStorageEnforce", "associations"}});
  made.qos[0].add("MaxTRES", "cpu=1");
  CHECK(said(made).empty());
}

TEST_CASE("what is not known says nothing") {
  LimitFacts made = facts();
  made.qos[0].add("MaxTRES", "cpu=1");
  CHECK_FALSE(said(made).empty());
  for (const char* qos : {"absent", "normal,small"}) {
    made.qos_asked = qos;
    CHECK(said(made).empty());
  }
  made.qos_asked = "";
  made.account = "chemistry";
  CHECK(said(made).empty());
  made.account = "physics";
  made.own.push_back(record({{"Account", "physics"}, {"User", "ada"}, {"Partition", "low"}}));
  CHECK(said(made).empty());
  made.own.pop_back();
  made.accounts.clear();  // PrivateData=accounts
  CHECK(said(made).empty());
  made.own[0].add("DefaultQOS", "normal");
  CHECK_FALSE(said(made).empty());
}

TEST_CASE("jobs that may not be submitted at all") {
  LimitFacts made = facts();
  made.own[0].add("MaxJobs", "0");  // for a while: jobs may wait
  made.own[0].add("MaxSubmit", "0");
  made.accounts[1].add("GrpSubmit", "4");
  CHECK(said(made) ==
        "GrpSubmit=4 account science permits; "
        "MaxSubmit=0 your association with account physics takes no job (MaxSubmit=0); ");
  made.qos[0].add("MaxSubmitPA", "5");
  CHECK(said(made) == "GrpSubmit=4 account science permits; MaxSubmitPA=5 QOS normal permits; ");
}

TEST_CASE("a partition's QOS as slurm.conf spells it, and one that is not known") {
  LimitFacts made = facts();
  made.qos[0].add("MaxTRES", "cpu=1");
  made.qos[2].add("MaxTRES", "cpu=8");
  made.partitions[0] = record({{"PartitionName", "low"}, {"QoS", "Part"}});
  CHECK(said(made) == "MaxTRESPerJob=cpu=8 partition low's QOS part gives a job; ");
  made.partitions[0] = record({{"PartitionName", "low"}, {"QoS", "gone"}});
  CHECK(said(made).empty());
}

TEST_CASE("accounts that a partition admits, where nobody looks at them") {
  LimitFacts made = facts();
  made.accounts.push_back(record({{"Account", "other"}, {"ParentName", "root"}}));
  made.partitions[0] = record({{"PartitionName", "low"}, {"AllowAccounts", "other"}});
  CHECK_FALSE(said(made).empty());
  made.accounts.pop_back();  // no account of the list exists any more
  CHECK(said(made).empty());
  made.partitions[0] = record({{"PartitionName", "low"}, {"DenyAccounts", "physics"}});
  CHECK_FALSE(said(made).empty());
  made.site = record({{"AccountingStorageEnforce", "none"}});
  CHECK(said(made).empty());
}

TEST_CASE("a QOS may scale the limits of associations") {
  LimitFacts made = facts();
  made.own[0].add("MaxTRES", "cpu=2");
  made.qos[0].add("LimitFactor", "1.500000");
  const json limits = limits_json(made)["partitions"][0]["limits"];
  CHECK(limits[0]["amount"] == 3);
}

TEST_CASE("accounts and QOS that a partition admits") {
  LimitFacts made = facts();
  made.accounts.push_back(record({{"Account", "chemistry"}, {"ParentName", "root"}}));
  const auto with = [&](const Fields& fields) {
    made.partitions = {record(fields)};
    made.partitions[0].add("PartitionName", "low");
    return said(made);
  };
  CHECK(with({{"AllowAccounts", "chemistry"}}) ==
        "AllowAccounts=chemistry partition low starts no job of account physics "
        "(AllowAccounts=chemistry); ");
  CHECK(with({{"AllowAccounts", "chemistry,science"}}).empty());  // of which physics is a part
  CHECK(with({{"DenyAccounts", "chemistry,physics"}}).find("DenyAccounts=") == 0);
  CHECK(with({{"DenyAccounts", "chemistry"}}).empty());
  CHECK(with({{"AllowQos", "small"}}).find("AllowQos=small") == 0);
  CHECK(with({{"DenyQos", "normal"}}).find("DenyQos=normal") == 0);
  CHECK(with({{"AllowQos", "normal"}}).empty());
}

TEST_CASE("a QOS, also the default one, may lift limits of partitions") {
  LimitFacts made = facts();
  CHECK(limits_json(made)["lifts_time"] == false);
  made.qos[0].add("Flags", "PartitionTimeLimit,PartitionMaxNodes");
  CHECK(limits_json(made)["lifts_time"] == true);
  CHECK(limits_json(made)["lifts_max_nodes"] == true);
  CHECK(limits_json(made)["lifts_min_nodes"] == false);
}

TEST_CASE("a site whose own rules may change jobs") {
  LimitFacts made = facts();
  CHECK(limits_json(made)["may_change"] == false);
  made.site.add("JobSubmitPlugins", "require_timelimit,lua");
  CHECK(limits_json(made)["may_change"] == true);
}

TEST_CASE("tables of sacctmgr") {
  const auto rows = parse_table("a|1|\nsacctmgr: error\nb||2\n", "Name,X,Y");
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].text("Y") == "2");
}
