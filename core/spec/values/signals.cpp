// SPDX-License-Identifier: Apache-2.0
// Signals as options name them.
#include "core/base/text/signal_name.hpp"
#include "core/base/text/text.hpp"
#include "core/spec/values/json_values.hpp"
#include "core/spec/values/values.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <csignal>

namespace dts::spec {
namespace {

bool can_be_caught(int signal) {
  return signal > 0 && signal <= SIGRTMAX && signal != SIGKILL && signal != SIGSTOP;
}

// "USR1", "SIGUSR1", "usr1", "10"
Result<int> parse_signal(const std::string& typed) {
  std::string name = typed;
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (name.rfind("SIG", 0) == 0) name.erase(0, 3);
  if (const auto number = parse_number(name);
      number && *number <= 64 && can_be_caught(static_cast<int>(*number)))
    return static_cast<int>(*number);
  for (int signal = 1; signal < SIGRTMIN; ++signal)
    if (const char* known = signal_name(signal);
        known != nullptr && name == known && can_be_caught(signal))
      return signal;
  return fail(Errc::invalid,
              fmt::format("`{}` is not a signal that a program can catch", typed),
              "for example TERM, USR1, USR2, INT or HUP");
}

}  // namespace

Value stop_signal(int JobSpec::*member) {
  Value value;
  value.type = "SIG";
  value.parse = [member](const std::string& typed, JobSpec& spec) -> Result<void> {
    DTS_ASSIGN(spec.*member, parse_signal(typed));
    return {};
  };
  value.read = [member](const nlohmann::json& stored, JobSpec& spec) {
    return read_number(stored, spec.*member);
  };
  value.write = [member](const JobSpec& spec) { return nlohmann::ordered_json(spec.*member); };
  value.check = [member](const JobSpec& spec, const std::string& option, Diagnostics& problems) {
    if (!can_be_caught(spec.*member))
      problems.push_back({option, fmt::format("{} cannot be caught", spec.*member)});
  };
  return value;
}

// sbatch(1): "[{R|B}:]<sig_num>[@sig_time]". dtsubmit decides who receives it: every rank.
Value signal_and_margin() {
  Value value;
  value.type = "SIG[@SEC]";
  value.parse = [](const std::string& typed, JobSpec& spec) -> Result<void> {
    const std::size_t colon = typed.find(':');
    const std::string rest = colon == std::string::npos ? typed : typed.substr(colon + 1);
    const std::size_t at = rest.find('@');
    DTS_ASSIGN(const int signal, parse_signal(rest.substr(0, at)));
    const auto seconds = at == std::string::npos ? std::optional<std::uint64_t>(60)
                                                 : parse_number(rest.substr(at + 1));
    if (!seconds || *seconds > k_most)
      return fail(Errc::invalid,
                  fmt::format("`{}` is not a number of seconds", rest.substr(at + 1)),
                  "for example USR1@120: 0 to 65535 seconds");
    spec.stop_signal = signal;
    spec.signal_margin = Seconds(*seconds);
    return {};
  };
  return value;
}

}  // namespace dts::spec
