// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/inside.hpp"

#include "core/base/files.hpp"
#include "core/base/text.hpp"
#include "core/launch/agent.hpp"
#include "core/launch/rank.hpp"
#include "core/launch/step_daemon.hpp"

#include <map>

namespace dts::cli {
namespace {

Result<std::map<std::string, std::string>> options_of(const std::vector<std::string>& words) {
  std::map<std::string, std::string> options;
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) options[words[i]] = words[i + 1];
  if (words.size() % 2 == 0)
    return fail(Errc::usage, "`" + words.front() + "` takes pairs of options and values");
  return options;
}

}  // namespace

bool is_inside_verb(const std::string& word) {
  return word == "agent" || word == "rank" || word == "sentinel" || word == "orted" ||
         word == "prted";
}

Result<int> run_inside_verb(const std::vector<std::string>& words,
                            const std::vector<std::string>& command) {
  if (words.front() == "sentinel") return launch::run_sentinel();
  if (words.front() == "orted" || words.front() == "prted") return launch::run_mpi_daemon(words);
  DTS_ASSIGN(const auto options, options_of(words));
  const auto run = options.find("--run");
  if (run == options.end()) return fail(Errc::usage, "`" + words.front() + "` needs --run DIR");
  if (words.front() == "agent") return launch::run_agent({run->second, false, program_path()});
  const auto attempt = options.find("--attempt");
  const auto number = attempt == options.end() ? std::nullopt : parse_number(attempt->second);
  if (!number || *number == 0 || *number > 1'000'000 || command.empty())
    return fail(Errc::usage, "`rank` needs --attempt K and a command after `--`");
  return launch::run_rank({run->second, static_cast<unsigned>(*number), command});
}

}  // namespace dts::cli
