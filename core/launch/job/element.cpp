// SPDX-License-Identifier: Apache-2.0
#include "core/launch/job/element.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/launch/job/assignment.hpp"
#include "core/plan/layout/json.hpp"
#include "core/run/event/event_line.hpp"
#include "core/run/index/find.hpp"
#include "core/script/sbatch.hpp"
#include "core/spec/json.hpp"
#include "core/sweep/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dts::launch {
namespace {

// The program and version that created the sweep.
Result<script::ScriptContext> context_of(const std::string& provenance, const std::string& file) {
  const auto record = nlohmann::json::parse(provenance, nullptr, false);
  script::ScriptContext context;
  for (const auto& [key, into] :
       {std::pair{"dtsubmit", &context.dtsubmit}, {"version", &context.version}}) {
    if (!record.is_object() || !record.contains(key) || !record[key].is_string())
      return fail(Errc::invalid, fmt::format("{}: no \"{}\"", file, key));
    *into = record[key].get<std::string>();
  }
  return context;
}

std::string first_events(const JobId& job) {
  const std::string now = format_utc(std::chrono::system_clock::now());
  std::string lines = run::to_line({.time = now, .what = run::Created{}}) + "\n";
  if (!job.empty())
    lines += run::to_line({.time = now, .job = job, .what = run::Submitted{}}) + "\n";
  return lines;
}

Result<run::Files> files_of(const run::RunDirectory& run,
                            const sweep::Sweep& sweep,
                            const sweep::Element& element,
                            const JobId& array) {
  DTS_ASSIGN(spec::JobSpec spec, read_spec(run));
  DTS_ASSIGN(plan::Plan plan, read_plan(run));
  spec = sweep::element_spec(std::move(spec), sweep, element);
  plan = sweep::element_plan(std::move(plan), sweep, element);
  run::Files files;
  DTS_ASSIGN(files.provenance, read_own_file(run.provenance()));
  DTS_ASSIGN(script::ScriptContext context, context_of(files.provenance, run.provenance()));
  context.run_dir = element_directory(run, element.index).path;
  DTS_ASSIGN(files.script, script::render_sbatch(spec, plan, context));
  files.spec = spec::to_json(spec);
  files.plan = plan::to_json(plan);
  files.element = sweep::to_json(sweep::membership_of(sweep, element, array));
  files.ledger =
      first_events(array.empty() ? JobId() : sweep::job_of_element(array, element.index));
  return files;
}

}  // namespace

bool is_sweep(const run::RunDirectory& run) {
  return !is_gone(run.sweep());  // if its file system fails now, reading it will say so
}

bool is_element(const run::RunDirectory& run) {
  return exists(run.element());
}

Result<sweep::Sweep> read_sweep(const run::RunDirectory& run) {
  DTS_ASSIGN(const std::string text, read_own_file(run.sweep()));
  return sweep::sweep_from_json(text, run.sweep());
}

Result<sweep::Membership> read_membership(const run::RunDirectory& run) {
  DTS_ASSIGN(const std::string text, read_own_file(run.element()));
  return sweep::membership_from_json(text, run.element());
}

run::RunDirectory element_directory(const run::RunDirectory& sweep, unsigned index) {
  return {sweep.path + "/" + std::to_string(index)};
}

Result<run::RunDirectory> open_element(const run::RunDirectory& run,
                                       const sweep::Sweep& sweep,
                                       unsigned index,
                                       const JobId& array) {
  const sweep::Element* element = sweep.find(index);
  if (element == nullptr)
    return fail(Errc::not_found,
                fmt::format("{} has no element {}", run.path, index),
                "its elements are " + sweep.array());
  const run::RunDirectory place = element_directory(run, index);
  if (!exists(place.path)) {
    DTS_ASSIGN(const run::Files files, files_of(run, sweep, *element, array));
    const auto made = run::create_run_directory(run.path, std::to_string(index), files);
    if (made)
      DTS_TRY(run::sync_run_directory(*made));
    else if (!exists(place.path))  // otherwise another process has just created it
      return tl::unexpected<Error>(made.error());
  }
  return run::open_run(place.path);
}

}  // namespace dts::launch
