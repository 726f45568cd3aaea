// SPDX-License-Identifier: Apache-2.0
#include "core/probe/measure.hpp"

#include "core/base/exit_codes.hpp"
#include "core/base/files/files.hpp"
#include "core/base/net/net.hpp"
#include "core/base/os/limits.hpp"
#include "core/base/os/process.hpp"
#include "core/base/os/program_file.hpp"
#include "core/base/os/signals.hpp"
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/binding/binding.hpp"
#include "core/launch/job/allocation.hpp"
#include "core/launch/launcher/ssh_launcher.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/probe/meeting.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <numeric>
#include <thread>

namespace dts::probe {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds k_meet_limit{8000};
constexpr milliseconds k_file_limit{4000};  // a shared file system may show a new file late
constexpr milliseconds k_ssh_limit{6000};
constexpr milliseconds k_partner_limit{8000};  // for what the other rank does meanwhile
constexpr std::chrono::seconds k_warning_limit{8};
constexpr milliseconds k_glance{20};

double seconds_since(steady_clock::time_point then) {
  return std::chrono::duration<double>(steady_clock::now() - then).count();
}

// The cores that a process of ours may use: the kernel restricts a request to its control group.
std::vector<unsigned> reachable_cores() {
  const std::vector<unsigned> ours = launch::current_binding();
  std::vector<unsigned> all(k_highest_cpu + 1);
  std::iota(all.begin(), all.end(), 0U);
  if (!launch::bind_to(all)) return ours;
  std::vector<unsigned> reached = launch::current_binding();
  (void)launch::bind_to(ours);  // restores the previous binding
  return reached;
}

bool resolves(const std::string& host) {
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, nullptr, &found) != 0) return false;
  ::freeaddrinfo(found);
  return true;
}

Ssh try_ssh(const std::string& host) {
  if (!find_program("ssh")) return {false, "ssh is not installed"};
  Command command;
  command.argv = launch::ssh_command({"ssh"}, host, {"true"});
  const auto output = run_process(std::move(command), k_ssh_limit);
  if (!output) return {false, output.error().message};
  const auto lines = split(trim(output->err), '\n');
  return {output->exit_code == 0, std::string(trim(lines.back()))};
}

void inspect_machine(const Lookup& lookup, Facts& facts) {
  facts.memlock = soft_limit(RLIMIT_MEMLOCK);
  facts.nofile = soft_limit(RLIMIT_NOFILE);
  facts.cores = launch::current_binding();
  facts.reachable = reachable_cores();
  facts.machine_cores = static_cast<unsigned>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 0L));
  facts.scratch = lookup("TMPDIR").value_or("");
  if (facts.scratch.empty()) facts.scratch = "/tmp";

  struct statvfs disk {};

  if (::statvfs(facts.scratch.c_str(), &disk) == 0)
    facts.scratch_free = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
}

// Waits until the other rank's file has the token that this rank has sent us. Returns the seconds.
std::optional<double> await_file(const std::string& path, const std::string& token) {
  const auto begin = steady_clock::now();
  while (steady_clock::now() < begin + k_file_limit) {
    if (read_file(path, k_largest_facts).value_or("") == token) return seconds_since(begin);
    std::this_thread::sleep_for(k_glance);
  }
  return std::nullopt;
}

// Tests what lies between the two ranks. `token`: the content of our own file, already written.
void look_at_other(const std::string& run,
                   const std::string& token,
                   Meeting& meeting,
                   Facts& facts) {
  facts.where = meeting.where();
  const auto named = meeting.exchange(facts.host, k_partner_limit);
  const auto theirs = meeting.exchange(token, k_partner_limit);
  if (!named || !theirs) {
    facts.trouble = "they met, and the other one fell silent";
    return;
  }
  facts.other_host = *named;
  if (facts.rank == 0)
    facts.clocks = meeting.compare_clocks();
  else
    meeting.answer_clock();
  facts.file_after = await_file(token_file(run, facts.rank == 0 ? 1 : 0), *theirs);
  facts.other_resolves = resolves(facts.other_host);
  if (facts.rank == 0) facts.ssh = try_ssh(facts.other_host);
}

Result<void> warn_job(const Lookup& lookup) {
  DTS_ASSIGN(const auto scheduler, plugin::load_scheduler());
  return scheduler->signal_batch(launch::own_job(lookup), SIGUSR1);
}

// Measures the time from the warning to the signal that the agent has sent to ranks.
void await_warning(const Lookup& lookup,
                   int signals,
                   std::optional<Meeting>& meeting,
                   Facts& facts) {
  constexpr const char* k_now = "warned";
  if (facts.rank != 0 && meeting && !meeting->next(k_partner_limit + k_ssh_limit)) return;
  const auto begin = steady_clock::now();
  if (facts.rank == 0) {
    if (meeting) meeting->send(k_now);
    if (const auto sent = warn_job(lookup); !sent) facts.not_warned = sent.error().message;
  }
  if (facts.not_warned.empty() && wait_for_one_of(signals, {SIGTERM}, k_warning_limit))
    facts.warned_after = seconds_since(begin);
}

}  // namespace

Result<int> run_rank(const Lookup& lookup) {
  DTS_ASSIGN(const UniqueFd signals, take_signals({SIGTERM}));
  ::alarm(k_longest);
  Facts facts;
  facts.rank = static_cast<unsigned>(parse_number(lookup("RANK").value_or("0")).value_or(0));
  facts.world = static_cast<unsigned>(parse_number(lookup("WORLD_SIZE").value_or("1")).value_or(1));
  facts.host = host_name();
  const std::string run = lookup("DTSUBMIT_RUN_DIR").value_or("");
  if (run.empty() || facts.world > k_most_ranks || facts.rank >= facts.world)
    return fail(Errc::usage, "`probe` is the program of a job of `dtsubmit doctor --submit-probe`");
  inspect_machine(lookup, facts);
  const auto begin = steady_clock::now();
  const std::string token =
      fmt::format("{}-{}-{}", facts.rank, ::getpid(), begin.time_since_epoch().count());
  DTS_TRY(write_file(token_file(run, facts.rank), token));
  std::optional<Meeting> meeting;
  if (facts.world > 1) {
    auto met = Meeting::hold(facts.rank, lookup, k_meet_limit);
    if (met) {
      facts.met_after = seconds_since(begin);
      meeting = *std::move(met);
      look_at_other(run, token, *meeting, facts);
    } else {
      facts.trouble = met.error().message;
    }
  }
  DTS_TRY(write_file(facts_file(run, facts.rank), to_text(facts)));
  await_warning(lookup, signals.get(), meeting, facts);
  DTS_TRY(write_file(facts_file(run, facts.rank), to_text(facts)));
  // Waits for the other rank, so that both end together.
  if (meeting) (void)meeting->exchange("done", k_partner_limit);
  return k_no_restart;  // 0 after a warning would mean that the program saved
}

}  // namespace dts::probe
