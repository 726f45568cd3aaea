// SPDX-License-Identifier: Apache-2.0
#include "core/convert/convert.hpp"
#include "core/plan/composition.hpp"
#include "core/plan/plan.hpp"
#include "core/spec/file/layers.hpp"
#include "core/spec/parts.hpp"
#include "core/spec/size.hpp"
#include "core/spec/validate.hpp"

namespace dts::convert {

Diagnostics problems_of_job_file(const std::string& text) {
  Diagnostics problems;
  const auto document = spec::parse_toml(text, "job.toml", problems);
  if (!document) return problems;
  const spec::Layer settings = spec::settle({spec::layer_of(*document, problems)});
  spec::JobSpec job;
  spec::apply(settings, job, problems);
  if (!problems.empty()) return problems;
  spec::settle_size(job, problems);
  spec::resolve_parts(job, problems);
  if (!problems.empty()) return problems;
  if (spec::is_composed(job)) {
    if (const auto made = plan::make_composition(job, {}, ""); !made) return made.error();
  } else if (const auto made = plan::make_plan(job, {}, ""); !made) {
    return made.error();
  }
  return {};
}

}  // namespace dts::convert
