// SPDX-License-Identifier: Apache-2.0
// Text, units, host lists, hashes and diagnostics: tables of what goes in and comes out.
#include "core/base/text/text.hpp"

#include "core/base/diagnostics.hpp"
#include "core/base/hash.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/units.hpp"
#include "tests/support/contains.hpp"

#include <doctest/doctest.h>

#include <set>

namespace dts {
namespace {

using Words = std::vector<std::string>;
using std::chrono::seconds;

using dts::tests::contains;

}  // namespace

TEST_CASE("a time in UTC is read back, and one that no clock of ours shows is none") {
  for (const char* text :
       {"1970-01-01T00:00:00Z", "2026-11-21T01:02:03Z", "2199-12-31T23:59:59Z"}) {
    CAPTURE(std::string(text));
    const auto time = parse_utc(text);
    REQUIRE(time);
    CHECK(format_utc(*time) == text);
  }
  for (const char* text : {"",
                           "2026-11-21",
                           "2026-11-21T01:02:03",
                           "2026-11-21T01:02:03Z ",
                           "1969-12-31T23:59:59Z",
                           "0026-11-21T00:00:00Z",
                           "2200-01-01T00:00:00Z",
                           "9999-01-01T00:00:00Z"}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(parse_utc(text));
  }
}

TEST_CASE("split keeps empty parts and join puts them back") {
  CHECK(split("", ',') == Words{""});
  CHECK(split("a,,b,", ',') == Words{"a", "", "b", ""});
  CHECK(join(split("a,,b,", ','), ",") == "a,,b,");
  CHECK(join({}, ",").empty());
  CHECK(trim(" \t a b\r\n") == "a b");
  CHECK(trim(" \n").empty());
}

TEST_CASE("letters of ASCII are put in lower case, other bytes stay") {
  CHECK(in_lower_case("AZaz@[`{ UTF-8") == "azaz@[`{ utf-8");
  CHECK(in_lower_case("\xc3\x84\xff") == "\xc3\x84\xff");
}

TEST_CASE("parse_number takes whole decimal numbers and nothing else") {
  CHECK(parse_number("0") == 0U);
  CHECK(parse_number("007") == 7U);
  CHECK(parse_number("18446744073709551615") == 18446744073709551615U);
  for (const char* bad : {"", "-1", "+1", " 1", "1 ", "1x", "0x1", "1.0", "18446744073709551616"})
    CHECK_FALSE(parse_number(bad));
}

TEST_CASE("safe names are those that cannot leave a folder or become an option") {
  for (const char* good : {"a", "A1", "0", "train-1.2_x"}) CHECK(is_safe_name(good));
  for (const char* bad : {"", ".", "..", "-x", ".x", "a/b", "a b", "a\n", "\xc3\xa9", "%j", "a'"})
    CHECK_FALSE(is_safe_name(bad));
}

TEST_CASE("plain words need no quotes, the others get them") {
  CHECK(shell_quote("/usr/bin/x-1") == "/usr/bin/x-1");
  CHECK(shell_quote("") == "''");
  CHECK(shell_quote("a b") == "'a b'");
  CHECK(shell_quote("it's") == "'it'\\''s'");
  CHECK(shell_quote("~x") == "'~x'");
  CHECK(shell_quote("=ls") == "'=ls'");
}

TEST_CASE("the nearest word is a slip of the pen, not a guess") {
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abcd", "acbd") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  const Words options = {"--nodes", "--partition", "--qos"};
  CHECK(nearest("--noeds", options) == "--nodes");
  CHECK(nearest("--partitoin", options) == "--partition");
  CHECK(nearest("--gpus", {"--runs", "--gpus-per-node", "--gpus-per-node-max"}) ==
        "--gpus-per-node");
  CHECK(nearest("--parti", options) == "--partition");
  CHECK_FALSE(nearest("--verbose", options));
  CHECK_FALSE(nearest("--dtype", {"--steps"}));
  CHECK_FALSE(nearest("x", {}));
  // Whatever a file has for a word: not compared letter by letter.
  CHECK_FALSE(nearest(std::string(std::size_t{1} << 24U, '-'), options));
}

TEST_CASE("time limits are read as Slurm reads them") {
  struct Row {
    const char* text;
    int seconds;
  };

  for (const Row row : {Row{"90", 5400},
                        Row{"1:30", 90},
                        Row{"1:30:00", 5400},
                        Row{"2-0", 172800},
                        Row{"1-2:03", 93780},
                        Row{"1-02:03:04", 93784},
                        Row{"20s", 20},
                        Row{"1.5h", 5400},
                        Row{"90m", 5400},
                        Row{"2d", 172800},
                        Row{"0.2s", 1},
                        Row{"0:01", 1}})
    CHECK_MESSAGE(parse_time_limit(row.text) == seconds(row.seconds), std::string(row.text));
  CHECK(parse_time_limit("UNLIMITED") == seconds::max());
  for (const char* bad : {"",
                          "0",
                          "0:00",
                          "-1",
                          "1-",
                          "1:2:3:4",
                          "1w",
                          "h",
                          "0s",
                          "-1h",
                          "1:30h",
                          "1-2-3",
                          "99999999999",
                          "1:",
                          ":1",
                          "1 2",
                          "1-1:2:3:4",
                          "300003:32:0",
                          "11574-23:59:59"}) {
    CAPTURE(std::string(bad));
    const auto time = parse_time_limit(bad);
    REQUIRE_FALSE(time);
    CHECK(time.error().code == Errc::invalid);
    CHECK_FALSE(time.error().hint.empty());
  }
}

TEST_CASE("a time limit survives being printed") {
  for (const int total : {1, 59, 60, 3599, 3600, 86399, 86400, 93784, 31536000})
    CHECK(parse_time_limit(format_time_limit(seconds(total))) == seconds(total));
  CHECK(format_time_limit(seconds(5400)) == "01:30:00");
  CHECK(format_time_limit(seconds(93784)) == "1-02:03:04");
  CHECK(format_time_limit(seconds::max()) == "UNLIMITED");
  CHECK(format_utc(std::chrono::system_clock::from_time_t(0)) == "1970-01-01T00:00:00Z");
}

TEST_CASE("memory is in MiB unless it says otherwise, and rounded up") {
  CHECK(parse_memory_mib("4000") == 4000U);
  CHECK(parse_memory_mib("16G") == 16384U);
  CHECK(parse_memory_mib("1t") == 1048576U);
  CHECK(parse_memory_mib("1k") == 1U);
  CHECK(parse_memory_mib("1025K") == 2U);
  CHECK(parse_memory_mib("0") == 0U);
  CHECK(parse_memory_mib("32gb") == 32768U);
  CHECK(parse_memory_mib("2GiB") == 2048U);
  for (const char* bad : {"",
                          "G",
                          "B",
                          "GB",
                          "-1G",
                          "1GBB",
                          "1XB",
                          "1B",
                          "1.5G",
                          "1 G",
                          "99999999999999999999",
                          "1099511627776T",
                          "1P"})
    CHECK_FALSE(parse_memory_mib(bad));
}

TEST_CASE("host lists expand as scontrol shows them") {
  CHECK(expand_hostlist("n0") == Words{"n0"});
  CHECK(expand_hostlist("n[0-2,5],gpu01") == Words{"n0", "n1", "n2", "n5", "gpu01"});
  CHECK(expand_hostlist("n[08-11]") == Words{"n08", "n09", "n10", "n11"});
  CHECK(expand_hostlist("a[1-2]b[3-4]") == Words{"a1b3", "a1b4", "a2b3", "a2b4"});
  CHECK(expand_hostlist("n[1]-ib.cluster") == Words{"n1-ib.cluster"});
}

TEST_CASE("malformed host lists are refused, where scontrol exits 0 on them") {
  for (const char* bad : {"",
                          ",",
                          "n[1-2",
                          "n]1",
                          "n[]",
                          "n[2-1]",
                          "n[a-b]",
                          "n[1-2]]",
                          "n[[1]",
                          "n 1",
                          "n[1,]",
                          "-n",
                          "n[0-99999999]",
                          "n[0-999]m[0-999]",
                          "n\n",
                          "n[1-2-3]"}) {
    CAPTURE(std::string(bad));
    CHECK_FALSE(expand_hostlist(bad));
  }
  CHECK(contains(expand_hostlist("n0,n[1-2").error().message, "column 5"));
}

TEST_CASE("each item of a host list may say how many slots its hosts have") {
  const auto text = [](std::string_view list) {
    std::string all;
    const auto hosts = expand_host_slots(list);
    if (!hosts) return hosts.error().message;
    for (const HostSlots& host : *hosts)
      all += (all.empty() ? "" : " ") + host.host + "=" + std::to_string(host.slots);
    return all;
  };
  const std::pair<const char*, const char*> table[] = {
      {"n1", "n1=0"},
      {"n1,n2:4", "n1=0 n2=4"},
      {"n[1-3]:8,gpu01:65535", "n1=8 n2=8 n3=8 gpu01=65535"},
      {"127.0.0.2:2", "127.0.0.2=2"},
      {"n1:0", "host list `n1:0`, column 4: not a number of slots"},
      {"n1:", "host list `n1:`, column 4: not a number of slots"},
      {"n1:2:3", "host list `n1:2:3`, column 4: not a number of slots"},
      {"n1:65536", "host list `n1:65536`, column 4: not a number of slots"},
      {"n1:-1", "host list `n1:-1`, column 4: not a number of slots"},
      {":4", "host list `:4`, column 1: `` is not a host name"},
      {"", "host list ``, column 1: `` is not a host name"},
      {"-oProxyCommand=x",
       "host list `-oProxyCommand=x`, column 1: `-oProxyCommand=x` is not a host name"},
      {"me@n1", "host list `me@n1`, column 1: `me@n1` is not a host name"},
      {"n[1:2]", "host list `n[1:2]`, column 5: not a number of slots"}};
  for (const auto& [list, expected] : table) CHECK(text(list) == expected);
}

TEST_CASE("counts per node expand as in SLURM_TASKS_PER_NODE") {
  CHECK(expand_counts("8(x2),4") == std::vector<unsigned>{8, 8, 4});
  CHECK(expand_counts("1") == std::vector<unsigned>{1});
  for (const char* bad : {"",
                          "8(x)",
                          "8(x0)",
                          "8(x2",
                          "x2",
                          "8,",
                          "8(x2)4",
                          "8(x999999999)",
                          "-1",
                          "99999999999",
                          "8(x2))",
                          "(x2)"}) {
    CAPTURE(std::string(bad));
    CHECK_FALSE(expand_counts(bad));
  }
}

TEST_CASE("hashes are XXH3's and random names differ") {
  CHECK(to_hex(hash64("")) == "2d06800538d394c2");  // XXH3_64bits of nothing, xxhash.com
  CHECK(hash64("a") != hash64("b"));
  CHECK(hash64("abc", 3, 1) != hash64("abc", 3, 2));
  CHECK(to_hex(0xabc) == "0000000000000abc");
  std::set<std::string> names;
  for (int i = 0; i < 100; ++i) names.insert(random_hex(8));
  CHECK(names.size() == 100);
  CHECK(names.begin()->size() == 16);
}

TEST_CASE("a diagnostic shows its place, the line with a caret, and the help") {
  Diagnostic d;
  d.where = "job.json:1:3";
  d.message = "not JSON";
  d.hint = "mend it";
  d.source = "{ x";
  d.column = 3;
  CHECK(to_text(d) == "job.json:1:3: not JSON\n    | { x\n    |   ^\n  help: mend it");
  CHECK(to_error({d, d}).message.rfind("2 problems:\n", 0) == 0);
  CHECK(to_error({d}).message == to_text(d));
  d.source.clear();
  CHECK(to_error({d}).message == "job.json:1:3: not JSON");
  CHECK(to_error({d}).hint == "mend it");
  CHECK(exit_code(to_error({d}, Errc::usage).code) == 2);
}

TEST_CASE("each kind of failure has the exit code of the contract") {
  CHECK(exit_code(Errc::usage) == 2);
  CHECK(exit_code(Errc::invalid) == 3);
  CHECK(exit_code(Errc::unreachable) == 4);
  CHECK(exit_code(Errc::rejected) == 5);
  CHECK(exit_code(Errc::not_found) == 6);
  CHECK(exit_code(Errc::io) == 74);
  CHECK(exit_code(Errc::timed_out) == 74);
  CHECK(exit_code(Errc::internal) == 70);
  CHECK(exit_code(Errc::interrupted) == 130);
}

}  // namespace dts
