// SPDX-License-Identifier: Apache-2.0
// A verb of the command line: a CLI11 subcommand and the function to run after parsing.
#pragma once

#include "core/base/result.hpp"

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace dts::cli {

// Run after parsing; the value is the process's exit code.
using Action = std::function<Result<int>()>;

// Set by app.cpp before parsing, read by actions.
struct Invocation {
  std::vector<std::string> command;  // everything after `--`
  Action action;                     // set by the verb that was chosen
  bool all_options = false;          // --help-all: --help also lists the rare options
  // The only job options to set up; empty: all.
  std::vector<std::string> named;
};

// Each function adds its subcommand to `app`; the final callback sets `invocation.action`.
void add_submit(CLI::App& app, Invocation& invocation);
void add_run(CLI::App& app, Invocation& invocation);
void add_config(CLI::App& app, Invocation& invocation);
void add_render(CLI::App& app, Invocation& invocation);
void add_lint(CLI::App& app, Invocation& invocation);
void add_convert(CLI::App& app, Invocation& invocation);
void add_simulate(CLI::App& app, Invocation& invocation);
void add_drill(CLI::App& app, Invocation& invocation);
void add_check(CLI::App& app, Invocation& invocation);
void add_plan(CLI::App& app, Invocation& invocation);
void add_doctor(CLI::App& app, Invocation& invocation);
void add_cluster(CLI::App& app, Invocation& invocation);
void add_list(CLI::App& app, Invocation& invocation);
void add_status(CLI::App& app, Invocation& invocation);
void add_why(CLI::App& app, Invocation& invocation);
void add_logs(CLI::App& app, Invocation& invocation);
void add_stop(CLI::App& app, Invocation& invocation);
void add_cancel(CLI::App& app, Invocation& invocation);
void add_topo(CLI::App& app, Invocation& invocation);
void add_nodes(CLI::App& app, Invocation& invocation);
void add_beat(CLI::App& app, Invocation& invocation);
void add_requeue(CLI::App& app, Invocation& invocation);

}  // namespace dts::cli
