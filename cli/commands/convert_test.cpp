// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/convert_test.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/temporary_folder.hpp"
#include "core/base/os/log.hpp"
#include "core/base/os/process.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/text.hpp"
#include "core/lint/script/job.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>

namespace dts::cli {
namespace {

constexpr std::chrono::seconds k_answer_limit{60};

using Request = std::map<std::string, std::string>;

// "Job 7 to start at 2026-11-25T12:00:00 using 8 processors on nodes n[1-2] in partition main"
void read_start(const std::string& line, Request& request) {
  const auto words = split(line, ' ');
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    if (words[i] == "processors" && words[i - 1] != "of") request["cores"] = words[i - 1];
    if (words[i] == "partition" && words[i - 1] == "in") request["partition"] = words[i + 1];
    if (words[i] != "nodes" || words[i - 1] != "on") continue;
    if (const auto nodes = expand_hostlist(words[i + 1]))
      request["nodes"] = std::to_string(nodes->size());
  }
}

// A line from the table of options that -v prints: "sbatch: time   : 01:00:00"
void read_option(const std::string& line, Request& request) {
  constexpr std::string_view k_compared[] = {
      "time", "mem", "mem-per-cpu", "mem-per-gpu", "ntasks", "gpus"};
  const std::size_t colon = line.find(" : ");
  if (colon == std::string::npos) return;
  std::string name(trim(line.substr(0, colon)));
  name = name.substr(name.rfind(' ') == std::string::npos ? 0 : name.rfind(' ') + 1);
  const std::string value(trim(line.substr(colon + 3)));
  if (is_one_of(k_compared, name)) request[name] = value;
  if (name != "gres" && name != "gpus-per-node") return;
  const std::string plain = value.starts_with("gres:") ? value.substr(5) : value;
  if (const auto gpus = lint::gpus_in(plain, name == "gres"))
    request["GPUs of a node"] = std::to_string(*gpus);
}

Request read_answer(const std::string& answer) {
  Request request;
  for (const std::string& line : split(answer, '\n')) {
    read_start(line, request);
    read_option(line, request);
  }
  return request;
}

Result<Request> ask(const std::vector<std::string>& words) {
  Command command;
  command.argv = {"sbatch", "-v", "--test-only"};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  DTS_ASSIGN(const Output answer, run_process(std::move(command), k_answer_limit));
  if (answer.exit_code != 0) {
    std::string why;
    for (const std::string& line : split(answer.err, '\n'))
      if (line.find("error") != std::string::npos || line.find("ailure") != std::string::npos)
        why = line;
    return fail(Errc::rejected, why.empty() ? "sbatch --test-only failed" : why);
  }
  return read_answer(answer.err + answer.out);
}

Result<Request> ask_in(const std::string& folder, const std::string& job_file) {
  const std::string path = folder + "/job.toml";
  DTS_TRY(write_file(path, job_file, 0600));
  Command render;
  render.argv = {program_path(), "render", path};
  DTS_ASSIGN(const Output script, run_process(std::move(render), k_answer_limit));
  if (script.exit_code != 0) return fail(Errc::invalid, std::string(trim(script.err)));
  DTS_TRY(write_file(folder + "/job.sh", script.out, 0700));
  return ask({folder + "/job.sh"});
}

Result<Request> ask_for_job_file(const std::string& job_file) {
  DTS_ASSIGN(const std::string folder, make_temporary_folder("dtsubmit-convert"));
  auto answer = ask_in(folder, job_file);
  if (const auto removed = remove_all(folder); !removed) tell("{}\n", removed.error().message);
  return answer;
}

}  // namespace

Comparison compare_by_test(const std::string& script,
                           const std::vector<std::string>& arguments,
                           const std::string& job_file) {
  Comparison made;
  if (job_file.empty() || script == "-") {
    made.notes.emplace_back("not compared: there is no job file, or no file with the script");
    return made;
  }
  std::vector<std::string> words{script};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const auto before = ask(words);
  const auto after = ask_for_job_file(job_file);
  if (!before) made.notes.push_back("script: " + before.error().message);
  if (!after) made.notes.push_back("job file: " + after.error().message);
  if (!before || !after) return made;
  for (const auto& [name, value] : *before) {
    const auto other = after->find(name);
    if (other == after->end())
      made.notes.push_back(fmt::format("{}: {} in the script, not set in the job", name, value));
    else if (other->second != value)
      made.differences.push_back(
          fmt::format("{}: {} in the script, {} in the job file", name, value, other->second));
  }
  if (made.differences.empty()) made.notes.emplace_back("Slurm sees the same request in both");
  return made;
}

}  // namespace dts::cli
