// SPDX-License-Identifier: Apache-2.0
// What is measured on a node and what follows from it, limit by limit.
#include "core/launch/health/preflight.hpp"

#include "core/base/files/files.hpp"
#include "core/base/net/net.hpp"
#include "core/base/os/detached_call.hpp"
#include "core/base/os/wait.hpp"
#include "core/launch/health/measure_node.hpp"
#include "core/launch/health/nvml.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>

namespace {

using namespace dts;
using namespace dts::launch;
using std::chrono::milliseconds;

constexpr std::uint64_t k_mib = std::uint64_t{1} << 20;

NodeFacts sound() {
  NodeFacts facts;
  facts.run_free = 100'000 * k_mib;
  facts.memory = 64'000 * k_mib;
  facts.shm_free = 32'000 * k_mib;
  facts.tmp = "/local/tmp";
  facts.gpus = {{.pci = "00000000:3B:00.0", .uncorrected = 0}, {.pci = "00000000:AF:00.0"}};
  return facts;
}

NodeDemand two_gpus() {
  return {"/runs/a", 4, 2, 32'000};
}

// The findings in short: "unfit", "warning+note", "unfit (disk)".
std::string verdict(const std::vector<Finding>& findings) {
  std::string words;
  for (const Finding& finding : findings) {
    constexpr const char* k_words[] = {"note", "warning", "unfit"};
    words += (words.empty() ? "" : "+") + std::string(k_words[static_cast<int>(finding.severity)]) +
             (finding.disk ? " (disk)" : "");
  }
  return words;
}

}  // namespace

TEST_CASE("each limit of a node, from both sides") {
  const struct {
    const char* what;
    std::function<void(NodeFacts&, NodeDemand&)> change;
    const char* verdict;
    const char* words;
  } table[] = {
      {"sound", [](auto&, auto&) {}, "", ""},
      {"read-only", [](auto& f, auto&) { f.write_errno = EROFS; }, "unfit", "/runs/a: Read-only"},
      {"full", [](auto& f, auto&) { f.write_errno = ENOSPC; }, "unfit (disk)", "No space left"},
      {"quota", [](auto& f, auto&) { f.write_errno = EDQUOT; }, "unfit (disk)", "quota"},
      {"15 MiB",
       [](auto& f, auto&) { f.run_free = 16 * k_mib - 1; },
       "unfit (disk)",
       "15 MiB free"},
      {"16 MiB", [](auto& f, auto&) { f.run_free = 16 * k_mib; }, "warning", "16 MiB free"},
      {"1 GiB", [](auto& f, auto&) { f.run_free = 1024 * k_mib; }, "", ""},
      {"uncounted", [](auto& f, auto&) { f.run_free.reset(); }, "", ""},
      {"memory", [](auto& f, auto&) { f.memory = 32'000 * k_mib; }, "", ""},
      {"less",
       [](auto& f, auto&) { f.memory = 31'999 * k_mib; },
       "warning",
       "32000 were requested"},
      {"half", [](auto& f, auto&) { f.memory = 16'000 * k_mib; }, "warning", "16000 MiB"},
      {"below", [](auto& f, auto&) { f.memory = 15'999 * k_mib; }, "unfit", "15999 MiB"},
      {"not asked",
       [](auto& f, auto& d) { f.memory = 1023 * k_mib, d.memory_mib.reset(); },
       "warning",
       "less than 1 GiB"},
      {"all of it", [](auto& f, auto& d) { f.memory = 2048 * k_mib, d.memory_mib = 0; }, "", ""},
      {"no TMPDIR", [](auto& f, auto&) { f.tmp_errno = ENOENT; }, "warning", "every node"},
      {"tmp full",
       [](auto& f, auto&) { f.tmp_errno = ENOSPC; },
       "unfit",
       "/local/tmp, the folder for temporary files: No space"},
      {"tmp full, another not",
       [](auto& f, auto&) { f.tmp_errno = ENOSPC, f.other_tmp = "/var/tmp"; },
       "unfit",
       "or set TMPDIR to /var/tmp"},
      {"tmp over quota",
       [](auto& f, auto&) { f.tmp_errno = EDQUOT; },
       "unfit (disk)",
       "/local/tmp, the folder for temporary files: Disk quota"},
      {"no /dev/shm", [](auto& f, auto&) { f.shm_errno = ENOENT; }, "warning", "no /dev/shm"},
      {"shm full", [](auto& f, auto&) { f.shm_errno = ENOSPC; }, "unfit", "/dev/shm: No space"},
      {"shm 4 MiB", [](auto& f, auto&) { f.shm_free = 4 * k_mib; }, "warning", "4 MiB free"},
      {"shm 3 MiB", [](auto& f, auto&) { f.shm_free = 4 * k_mib - 1; }, "unfit", "for 4 ranks"},
      {"shm enough", [](auto& f, auto&) { f.shm_free = 256 * k_mib; }, "", ""},
      {"lo", [](auto& f, auto&) { f.loopback_errno = ENETUNREACH; }, "unfit", "interface lo"},
      {"one GPU", [](auto& f, auto&) { f.gpus.pop_back(); }, "unfit", "1 GPU here"},
      {"MIG", [](auto& f, auto&) { f.gpus.pop_back(), f.gpus[0].instances = 7; }, "", ""},
      {"unasked", [](auto& f, auto& d) { f.gpus.clear(), d.gpus = 0; }, "", ""},
      {"lost", [](auto& f, auto&) { f.gpus[1].lost = true; }, "unfit", "AF:00.0 has fallen off"},
      {"ECC", [](auto& f, auto&) { f.gpus[0].uncorrected = 1; }, "unfit", "3B:00.0: 1 uncorr"},
      {"row",
       [](auto& f, auto&) { f.gpus[0].remap_failed = true; },
       "unfit",
       "row remapping failed; replace the GPU"},
      {"pending", [](auto& f, auto&) { f.gpus[0].retirement_pending = true; }, "warning", "reset"},
      {"hot", [](auto& f, auto&) { f.gpus[1].throttling = 0x40; }, "warning", "hardware thermal"},
      {"idle", [](auto& f, auto&) { f.gpus[1].throttling = 0x1; }, "", ""},
      {"no NVML",
       [](auto& f, auto& d) { f.no_nvml = "libnvidia-ml.so.1: cannot open", d.pci_gpus = 2; },
       "note",
       "2 on its PCI buses"},
      {"PCI",
       [](auto& f, auto& d) { f.no_nvml = "none", d.pci_gpus = 1; },
       "unfit",
       "2 are planned"},
      {"not PCI", [](auto& f, auto& d) { f.no_nvml = "none", d.pci_gpus = 0; }, "note", "0 on its"},
      {"uncounted GPUs", [](auto& f, auto&) { f.no_nvml = "none"; }, "note", "not even counted"},
      {"two",
       [](auto& f, auto&) { f.write_errno = EROFS, f.shm_errno = ENOSPC; },
       "unfit+unfit",
       "Read-only"},
  };

  for (const auto& row : table) {
    CAPTURE(row.what);
    NodeFacts facts = sound();
    NodeDemand demand = two_gpus();
    row.change(facts, demand);
    const std::vector<Finding> found = judge(facts, demand);
    CHECK(verdict(found) == row.verdict);
    if (found.empty()) continue;
    CAPTURE(found[0].text);
    CHECK(found[0].text.find(row.words) != std::string::npos);
  }
}

TEST_CASE("a clock offset is worth a warning only beyond the round trip's uncertainty") {
  const struct {
    int ahead, doubt;
    const char* words;
  } table[] = {{999, 0, ""},
               {1000, 0, "1.0 s ahead of"},
               {1500, 600, ""},
               {-2500, 500, "2.0 s behind"},
               {-29'999, 0, "synchronised"},
               {30'000, 0, "DTSUBMIT_DEADLINE"},
               {3'600'000, 100, "3599.9 s ahead of"}};

  for (const auto& row : table) {
    CAPTURE(row.ahead);
    const auto found = judge_clock(milliseconds(row.ahead), milliseconds(row.doubt));
    REQUIRE(found.has_value() == (row.words[0] != '\0'));
    if (!found) continue;
    CAPTURE(found->text);
    CHECK(found->severity == Severity::warning);
    CHECK(found->text.find(row.words) != std::string::npos);
  }
}

TEST_CASE("a node's facts arrive as sent, and nothing else is accepted") {
  NodeFacts facts = sound();
  facts.write_errno = EROFS;
  facts.tmp_errno = EDQUOT;
  facts.other_tmp = "/var/tmp";
  facts.shm_errno = ENOSPC;
  facts.loopback_errno = ENETDOWN;
  facts.no_nvml = "none \"here\"";
  facts.gpus[0] = {"0", true, 7, true, true, 0x48};
  const std::string text = to_text(facts);
  const auto back = parse_node_facts(text);
  REQUIRE(back);
  CHECK(to_text(*back) == text);
  CHECK(back->gpus.at(0).uncorrected == 7);
  CHECK(back->run_free == facts.run_free);
  for (const char* wrong : {"",
                            "[]",
                            "{}",
                            R"({"no_nvml":"","gpus":{}})",
                            R"({"no_nvml":1,"gpus":[]})",
                            R"({"no_nvml":"","gpus":[],"write_errno":-1})",
                            R"({"no_nvml":"","gpus":[],"shm_errno":4096})",
                            R"({"no_nvml":"","gpus":[],"memory":1.5})",
                            R"({"no_nvml":"","gpus":[{"pci":"a","lost":1}]})",
                            R"({"no_nvml":"","gpus":[{}]})"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_node_facts(wrong).has_value());
  }
}

TEST_CASE("this machine is measured, and nothing is left behind") {
  const tests::TemporaryFolder folder;
  // A rank of the same number that was killed had left its file in a node's /tmp.
  const std::string earlier = fmt::format(".preflight-{}-{}", host_name(), ::getpid());
  REQUIRE(create_file(folder.path + "/" + earlier, ""));
  DetachedCall<NodeFacts> measurement;
  measurement.start([path = folder.path] { return measure_node(path, GpuUse::none); });
  REQUIRE(wait_readable(measurement.event_fd(), std::chrono::steady_clock::time_point::max()));
  const auto facts = measurement.take();
  REQUIRE(facts);
  CHECK(facts->write_errno == 0);
  CHECK(facts->loopback_errno == 0);
  CHECK(facts->run_free.value_or(0) > 0);
  CHECK(facts->memory.value_or(0) > 0);
  CHECK(list_folder(folder.path) == std::vector{earlier});
  CHECK_FALSE(measurement.take());
  CHECK(measure_node(folder.path + "/absent", GpuUse::none).write_errno == ENOENT);
}

TEST_CASE("NVML's GPUs: those of others are omitted, problems of ours are recorded") {
  const auto gpus = ask_nvml(NVML_FIXTURE);
  REQUIRE_MESSAGE(gpus, gpus.error().message);
  REQUIRE(gpus->size() == 3);
  const GpuFacts &healthy = gpus->at(0), &lost = gpus->at(1), &broken = gpus->at(2);
  CHECK(healthy.pci == "00000000:3B:00.0");
  CHECK_FALSE(healthy.uncorrected.has_value());
  CHECK(healthy.throttling == 1);
  CHECK(healthy.instances == 1);
  CHECK_FALSE(healthy.lost);
  CHECK(lost.lost);
  CHECK(lost.pci == "number 2");
  CHECK(broken.uncorrected == 5);
  CHECK(broken.remap_failed);
  CHECK(broken.retirement_pending);
  CHECK(broken.throttling == 0x48);
  CHECK(broken.instances == 3);
  NodeFacts facts = sound();
  facts.gpus = *gpus;
  CHECK(verdict(judge(facts, two_gpus())) == "unfit+unfit+unfit+warning+warning+warning");
}

TEST_CASE("without NVML the report says why") {
  ::setenv("NVML_FIXTURE_NO_DRIVER", "1", 1);
  const auto asleep = ask_nvml(NVML_FIXTURE);
  ::unsetenv("NVML_FIXTURE_NO_DRIVER");
  REQUIRE_FALSE(asleep);
  CHECK(asleep.error().message.find("Driver Not Loaded") != std::string::npos);
  const auto gpus = ask_nvml("libno-such-nvml.so.1");
  REQUIRE_FALSE(gpus);
  CHECK(gpus.error().message.find("libno-such-nvml.so.1") != std::string::npos);
}
