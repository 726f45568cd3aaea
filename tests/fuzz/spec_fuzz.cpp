// SPDX-License-Identifier: Apache-2.0
// Job files: a spec that is read survives its own JSON; a valid one can be planned and rendered or
// is refused.
#include "core/plan/composition.hpp"
#include "core/script/sbatch.hpp"
#include "core/spec/json.hpp"
#include "core/spec/parts.hpp"
#include "core/spec/validate.hpp"
#include "tests/support/fuzz.hpp"

using dts::tests::must;

DTS_FUZZ_TARGET(input) {
  const auto spec = dts::spec::from_json(input, "job.json");
  if (!spec) {
    must(!spec.error().message.empty());
    return;
  }
  const auto plan = dts::spec::is_composed(*spec)
                        ? dts::plan::make_composition(*spec, {}, "/usr/bin/dttrain")
                              .map([](dts::plan::Composition made) { return made.job; })
                        : dts::plan::make_plan(*spec, {}, "/usr/bin/dttrain");
  if (!plan) {
    must(!plan.error().empty());
    return;
  }
  must(dts::spec::validate(*spec).empty() && plan->world_size > 0 && !plan->command.empty());
  const std::string text = dts::spec::to_json(*spec);
  const auto back = dts::spec::from_json(text, "again");
  must(back && dts::spec::to_json(*back) == text);
  dts::script::ScriptContext context;
  context.run_dir = "/runs/x";
  context.dtsubmit = "/usr/bin/dtsubmit";
  must(dts::script::render_sbatch(*spec, *plan, context).has_value());
}
