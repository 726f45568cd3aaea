// SPDX-License-Identifier: Apache-2.0
// Command lines: arguments between newlines, and the same bytes as a shell's text. What is inserted
// for a launcher that is found stays within the command.
#include "core/plan/layout/launcher_words.hpp"
#include "core/plan/program/shell_words.hpp"
#include "tests/support/fuzz.hpp"

using dts::tests::must;

namespace {

void try_command(const std::vector<std::string>& command) {
  using namespace dts::plan;
  const OwnLauncher found = find_own_launcher(command);
  must((found.kind == OwnLauncher::Kind::none) == found.words.empty());
  if (!found.place) return;
  must(found.place->argument <= command.size());
  if (found.place->offset) must(*found.place->offset <= command.at(found.place->argument).size());
  Plan plan;
  plan.command = command;
  plan.nodes = 2;
  plan.workers_per_task = 8;
  dts::plan::Rendezvous rendezvous;
  rendezvous.master_addr = "10.0.0.1";
  const auto told = command_of_rank(plan, found, {}, rendezvous);
  must(told.empty() || told.size() >= command.size());
}

}  // namespace

DTS_FUZZ_TARGET(input) {
  std::vector<std::string> command(1);
  for (const char c : input) {
    if (c == '\n')
      command.emplace_back();
    else
      command.back() += c;
  }
  try_command(command);
  const std::string text(input);
  try_command({"bash", "-c", text});
  for (const auto& part : dts::plan::split_shell(text)) {
    must(!part.words.empty() && part.words.size() == part.ends.size());
    for (const std::size_t end : part.ends) must(end <= text.size());
  }
}
