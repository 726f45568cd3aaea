// SPDX-License-Identifier: Apache-2.0
#include "core/launch/binding/verify_binding.hpp"

#include "core/launch/wire/channel.hpp"

#include <fmt/format.h>

#include <thread>

namespace dts::launch {
namespace {

constexpr std::chrono::milliseconds k_look{100};

// Asks the agent to read the binding anew. Returns why it could not be asked; empty: it was asked.
std::string ask(const run::RunDirectory& run, unsigned attempt) {
  const auto channel = read_channel(run.path, attempt);
  if (!channel) return "its channel cannot be read: " + channel.error().message;
  const auto told = tell_agent(*channel, Verify{channel->token});
  return told ? "" : "its agent is gone, or cannot be reached from here";
}

}  // namespace

Result<VerifiedBinding> verify_binding(const run::RunDirectory& run,
                                       std::chrono::milliseconds limit) {
  const unsigned attempt = run::latest_attempt(run);
  if (attempt == 0)
    return fail(Errc::not_found, run.path + " has had no attempt yet", "wait until it runs");
  const auto before = read_binding(run, attempt);
  const unsigned known = before ? before->number : 0;
  VerifiedBinding verified;
  verified.because = ask(run, attempt);
  const auto until = std::chrono::steady_clock::now() + limit;
  while (verified.because.empty() && std::chrono::steady_clock::now() < until) {
    if (auto now = read_binding(run, attempt); now && now->number > known) {
      verified.report = *std::move(now);
      verified.fresh = true;
      return verified;
    }
    std::this_thread::sleep_for(k_look);
  }
  if (verified.because.empty())
    verified.because = fmt::format("its ranks did not answer within {} s", limit.count() / 1000);
  if (!before && before.error().code == Errc::not_found)
    return fail(Errc::not_found,
                fmt::format("the binding of attempt {} of {} has not been read: {}",
                            attempt,
                            run.path,
                            verified.because),
                "it is read once all ranks run");
  DTS_ASSIGN(verified.report, before);
  return verified;
}

std::vector<std::string> in_lines(const VerifiedBinding& binding) {
  std::vector<std::string> lines{binding.fresh
                                     ? fmt::format("attempt {}, read now", binding.report.attempt)
                                     : fmt::format("attempt {}, read at {}: {}",
                                                   binding.report.attempt,
                                                   binding.report.time,
                                                   binding.because)};
  for (std::string& line : in_lines(binding.report)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace dts::launch
