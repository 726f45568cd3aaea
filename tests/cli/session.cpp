// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/session.hpp"

#include "core/base/files/unique_fd.hpp"
#include "core/base/text/text.hpp"
#include "tests/support/source_dir.hpp"

#include <fcntl.h>

#include <regex>

namespace dts::tests {
namespace {

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace

Command Session::command(const Words& words) const {
  Command command;
  command.argv = {program()};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  command.env.emplace();
  for (const auto& [name, value] : environment) command.env->push_back(name + "=" + value);
  command.folder = path;
  command.in_child = in_child;
  return command;
}

Output Session::dtsubmit(const Words& words) const {
  auto output = run_process(command(words), std::chrono::seconds(120));
  REQUIRE_MESSAGE(output, output.error().message);
  return *output;
}

Output Session::shell(const std::string& line) const {
  Command shell = command({});
  shell.argv = {"/bin/sh", "-c", line};
  shell.env->push_back("DTSUBMIT=" + program());
  auto output = run_process(shell, std::chrono::seconds(120));
  REQUIRE_MESSAGE(output, output.error().message);
  return *output;
}

pid_t Session::begin(const Words& words) const {
  Command in_background = command(words);
  const UniqueFd out(::open(file("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const UniqueFd err(::open(file("err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  in_background.stdout_fd = out.get();
  in_background.stderr_fd = err.get();
  in_background.own_group = true;
  const auto pid = start_process(in_background);
  REQUIRE(pid);
  return *pid;
}

Words Session::story() const {
  Words words;
  const auto events = run::read_ledger(newest_run().ledger());
  REQUIRE(events);
  for (const run::Event& event : *events) {
    std::string& word = words.emplace_back(run::event_name(event));
    if (const auto* stop = event.as<run::StopRequested>()) word += ":" + stop->cause.name();
    if (const auto* ended = event.as<run::AttemptEnded>()) word += ":" + ended->cause.name();
    if (const auto* decided = event.as<run::Decided>()) word += ":" + decided->decision.name();
  }
  return words;
}

std::vector<pid_t> Session::survivors() const {
  std::vector<pid_t> found;
  for (const std::string& name : list_folder("/proc")) {
    const auto pid = parse_number(name);
    const auto text = pid ? read_file("/proc/" + name + "/environ") : Result<std::string>("");
    if (text && contains(*text, "DTS_TEST_SESSION=" + path))
      found.push_back(static_cast<pid_t>(*pid));
  }
  return found;
}

std::string Session::normal(std::string text) const {
  text = replaced(std::move(text), program().substr(0, program().rfind('/')), "/BIN");
  text = replaced(std::move(text), path, "/FOLDER");
  text = std::regex_replace(text, std::regex("[0-9]{8}T[0-9]{6}-[0-9a-f]{6}"), "TIME-ID");
  return std::regex_replace(
      text, std::regex("Made by dtsubmit [0-9.]+"), "Made by dtsubmit VERSION");
}

void check_golden(const std::string& name, const std::string& text) {
  const std::string golden = in_source("tests/cli/golden/" + name);
  REQUIRE_MESSAGE(!text.empty(), name << ": the program printed nothing");
  if (std::getenv("DTS_BLESS") != nullptr) REQUIRE(write_file(golden, text, 0644));
  const auto expected = read_file(golden);
  REQUIRE(expected);
  CHECK_MESSAGE(*expected == text,
                name << " is not what the program says now (DTS_BLESS=1 rewrites it)");
}

}  // namespace dts::tests
