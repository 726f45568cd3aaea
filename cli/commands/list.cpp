// SPDX-License-Identifier: Apache-2.0
// dtsubmit list: this user's runs, wherever they are, the newest first.
#include "cli/commands/command.hpp"
#include "cli/commands/counts.hpp"
#include "cli/commands/known_job.hpp"
#include "cli/commands/selection.hpp"
#include "cli/commands/sweep_view.hpp"
#include "cli/output/report.hpp"
#include "cli/output/why.hpp"
#include "core/base/os/environment.hpp"
#include "core/base/text/json_text.hpp"
#include "core/launch/job/element.hpp"
#include "core/plugin/scheduler.hpp"
#include "core/run/directory/lease.hpp"
#include "core/run/index/find.hpp"
#include "core/run/index/index.hpp"
#include "core/run/ledger/history.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>

namespace dts::cli {
namespace {

struct ListOptions {
  std::string runs = k_default_runs;
  unsigned most = 20;
  bool all = false;
  bool json = false;
};

struct ListRow {
  run::RunDirectory run;
  run::RunSummary summary;
  Standing standing = Standing::unknown;
  std::size_t elements = 0;  // of a sweep
  std::size_t done = 0;      // of these
};

struct Listed {
  std::vector<run::RunDirectory> runs;  // newest first
  std::vector<std::string> gone;        // folders in the index that no longer exist
};

// The runs below `runs`, and those in the index that still exist.
Listed collect(const std::string& runs) {
  Listed listed;
  listed.runs = run::list_runs(runs);
  std::set<std::string> seen;
  for (const run::RunDirectory& run : listed.runs) seen.insert(run.path);
  const auto entries = run::read_index();
  if (!entries) warn(entries.error().message);
  warn(run::index_damage());
  for (const run::Indexed& entry : entries.value_or(std::vector<run::Indexed>())) {
    if (!seen.insert(entry.folder).second) continue;
    auto run = run::open_run(entry.folder);
    if (run && launch::is_element(*run)) continue;  // shown in its sweep's row
    if (run)
      listed.runs.push_back(*std::move(run));
    else if (run.error().code == Errc::not_found)
      listed.gone.push_back(entry.folder);
    else
      warn(run.error().message);
  }
  std::stable_sort(listed.runs.begin(), listed.runs.end(), [](const auto& a, const auto& b) {
    return run::is_older(b, a);
  });
  return listed;
}

// Stops querying the scheduler once it does not answer: each attempt costs 15 s.
class Listing {
 public:
  void ask(RunFacts& known) {
    if (known.summary.job.empty() || away_) return;
    if (!scheduler_) {
      auto loaded = plugin::load_scheduler();
      if (!loaded) return give_up(loaded.error());
      scheduler_ = *std::move(loaded);
    }
    if (const auto read = read_job(*scheduler_, known); !read) give_up(read.error());
  }

 private:
  void give_up(const Error& why) {
    away_ = true;
    warn(fmt::format("the states of jobs are not known: {}", why.message));
  }

  std::unique_ptr<sched::Scheduler> scheduler_;
  bool away_ = false;
};

ListRow row_of_sweep(const run::RunDirectory& run) {
  ListRow row;
  row.run = run;
  const auto view = look_at_sweep(run);
  if (!view) {
    warn(view.error().message);
    return row;
  }
  row.summary.job = view->array;
  row.standing = view->standing();
  row.elements = view->elements.size();
  row.done = static_cast<std::size_t>(
      std::ranges::count(view->elements, Standing::done, &ElementView::standing));
  return row;
}

ListRow look_at(const run::RunDirectory& run,
                const std::set<std::string>& elsewhere,
                Listing& asked) {
  if (launch::is_sweep(run)) return row_of_sweep(run);
  ListRow row;
  row.run = run;
  const auto ledger = run::load_ledger(run.ledger());
  if (!ledger) {
    warn(ledger.error().message);
    return row;
  }
  RunFacts known;
  known.run_directory = run.path;
  known.events = ledger->events;
  known.summary = run::summarise(known.events, run::read_metrics(run));
  if (run::final_decision(known.events) == nullptr && elsewhere.count(run.path) == 0)
    asked.ask(known);
  if (known.summary.job.empty()) known.agent_lives = run::agent_lives(run);
  row.standing = explain(known).standing;
  row.summary = std::move(known.summary);
  return row;
}

std::int64_t newest_step(const run::RunSummary& summary) {
  std::int64_t step = -1;
  for (const run::AttemptSummary& attempt : summary.attempts)
    if (attempt.last_step >= 0) step = attempt.last_step;
  return step;
}

// "120/500", "120", "-"
std::string newest_steps(const run::RunSummary& summary) {
  const std::int64_t step = newest_step(summary);
  if (step < 0) return "-";
  return summary.total_steps > 0 ? fmt::format("{}/{}", step, summary.total_steps)
                                 : std::to_string(step);
}

void print_table(const std::vector<ListRow>& rows, const Listed& listed) {
  if (rows.empty()) fmt::print("no runs\n");
  if (!rows.empty()) fmt::print("{:<9} {:>8} {:>13}  {}\n", "STATE", "JOB", "STEPS", "FOLDER");
  for (const ListRow& row : rows)
    fmt::print("{:<9} {:>8} {:>13}  {}\n",
               to_string(row.standing),
               row.summary.job.empty() ? "-" : row.summary.job.text(),
               row.elements > 0 ? fmt::format("{}/{} done", row.done, row.elements)
                                : newest_steps(row.summary),
               row.run.path);
  if (const std::size_t more = listed.runs.size() - rows.size(); more > 0)
    fmt::print("and {} older: --all shows them\n", more);
}

void print_json(const std::vector<ListRow>& rows, const Listed& listed) {
  nlohmann::ordered_json document{{"schema", "dtsubmit/list/1"}};
  document["runs"] = nlohmann::ordered_json::array();
  for (const ListRow& row : rows) {
    nlohmann::ordered_json one{{"run_directory", row.run.path},
                               {"state", to_string(row.standing)},
                               {"job", row.summary.job},
                               {"step", newest_step(row.summary)},
                               {"total_steps", row.summary.total_steps},
                               {"attempts", row.summary.attempts.size()}};
    if (row.elements > 0) {
      one["elements"] = row.elements;
      one["elements_done"] = row.done;
    }
    document["runs"].push_back(std::move(one));
  }
  document["older"] = listed.runs.size() - rows.size();
  document["gone"] = listed.gone;
  fmt::print("{}", json_text(document));
}

// Runs of another cluster than the one that we would query; its job ids are not ours.
std::set<std::string> runs_elsewhere() {
  std::set<std::string> elsewhere;
  const std::string here = run::this_cluster();
  for (const run::Indexed& entry : run::read_index().value_or(std::vector<run::Indexed>()))
    if (!entry.job.empty() && entry.cluster != here) elsewhere.insert(entry.folder);
  return elsewhere;
}

Result<int> act(const ListOptions& options) {
  std::error_code failed;
  const bool is_typed =
      options.runs != k_default_runs && getenv_lookup("DTSUBMIT_RUNS") != options.runs;
  if (is_typed && !std::filesystem::is_directory(options.runs, failed))
    warn(fmt::format("--runs: no folder {}; these are your runs elsewhere", options.runs));
  const Listed listed = collect(options.runs);
  const std::set<std::string> elsewhere = runs_elsewhere();
  Listing asked;
  std::vector<ListRow> rows;
  for (const run::RunDirectory& run : listed.runs) {
    if (!options.all && rows.size() >= options.most) break;
    rows.push_back(look_at(run, elsewhere, asked));
  }
  options.json ? print_json(rows, listed) : print_table(rows, listed);
  return 0;
}

}  // namespace

void add_list(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<ListOptions>();
  CLI::App* verb = app.add_subcommand("list", "list your runs, wherever they are, newest first");
  CLI::Option* most = verb->add_option(
      "-n", options->most, fmt::format("show at most this many [{}]", options->most));
  accept_whole(*most->type_name("N"), 1, 1'000'000);
  verb->add_flag("--all", options->all, "show all");
  add_runs_option(*verb, options->runs);
  verb->add_flag("--json", options->json, "one JSON document, schema dtsubmit/list/1");
  verb->callback(
      [options, &invocation] { invocation.action = [options] { return act(*options); }; });
}

}  // namespace dts::cli
