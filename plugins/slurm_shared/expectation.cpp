// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/expectation.hpp"

#include "core/base/text/text.hpp"
#include "plugins/slurm_shared/job_reply.hpp"
#include "plugins/slurm_shared/record.hpp"

#include <nlohmann/json.hpp>

namespace slurm_plugin {
namespace {

constexpr std::string_view k_start = " to start at ";
constexpr std::string_view k_preempts = "Preempts: ";

// Parses what follows " to start at ". 26.05 adds `a using`, and a federation `on cluster NAME`
// first.
Expectation read_start(std::string_view rest) {
  const auto words = dts::split(rest, ' ');
  Expectation read;
  read.start_time = time_in(words.front());
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    const bool named = words[i] == "nodes" && words[i - 1] == "on";
    const bool unnamed =  // of a heterogeneous job
        words[i] == "on" && words[i - 1] == "processors" && words[i + 1] != "nodes";
    if (words[i] == "processors") read.processors = dts::parse_number(words[i - 1]).value_or(0);
    if (named || unnamed) read.nodes = words[i + 1];
    if (words[i] == "partition" && words[i - 1] == "in") read.partition = words[i + 1];
  }
  return read;
}

}  // namespace

nlohmann::json reply_of(const Expectation& expectation, std::int64_t now) {
  return {{"start_time", is_a_guess(expectation.start_time, now) ? 0 : expectation.start_time},
          {"processors", expectation.processors},
          {"nodes", expectation.nodes},
          {"partition", expectation.partition},
          {"preempted", expectation.preempted}};
}

std::optional<Expectation> parse_expectation(std::string_view said) {
  std::optional<Expectation> read;
  for (const std::string& line : dts::split(said, '\n')) {
    // A site's messages to the user come first and may say anything, so the last such line counts.
    if (const std::size_t start = line.rfind(k_start); start != std::string::npos)
      read = read_start(dts::trim(std::string_view(line).substr(start + k_start.size())));
    const std::size_t at = line.find(k_preempts);
    if (read && at != std::string::npos)
      read->preempted = dts::split(dts::trim(line.substr(at + k_preempts.size())), ',');
  }
  if (read && read->start_time == 0) return std::nullopt;
  return read;
}

}  // namespace slurm_plugin
