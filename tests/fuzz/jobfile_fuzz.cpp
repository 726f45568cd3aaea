// SPDX-License-Identifier: Apache-2.0
// Job files, TOML and JSON: anything is refused with a message, or read; what is read survives
// being written in either format.
#include "core/spec/file/layers.hpp"
#include "core/spec/file/locate.hpp"
#include "core/spec/file/write.hpp"
#include "core/spec/json.hpp"
#include "tests/support/fuzz.hpp"

#include <optional>

using namespace dts;
using dts::tests::must;

namespace {

struct Read {
  spec::Layer settings;
  std::string spec;
};

std::optional<Read> read(const std::optional<spec::Document>& document, Diagnostics& problems) {
  if (!document) return std::nullopt;
  Read result;
  result.settings = spec::settle({spec::layer_of(*document, problems)});
  spec::JobSpec spec;
  spec::apply(result.settings, spec, problems);
  spec::locate(result.settings, problems);
  result.spec = spec::to_json(spec);
  return result;
}

void check(const std::optional<Read>& first, const Diagnostics& problems) {
  must(first || !problems.empty());
  if (!problems.empty()) must(!to_error(problems).message.empty());
  if (!first || !problems.empty()) return;
  Diagnostics none;
  for (const spec::Origins origins : {spec::Origins::omitted, spec::Origins::shown}) {
    const std::string toml = spec::to_toml(first->settings, origins);
    const auto again = read(spec::parse_toml(toml, "again.toml", none), none);
    must(again && none.empty() && again->spec == first->spec);
  }
  const std::string json = spec::to_job_json(first->settings);
  const auto again = read(spec::parse_json(json, "again.json", none), none);
  must(again && none.empty() && again->spec == first->spec);
}

}  // namespace

DTS_FUZZ_TARGET(input) {
  Diagnostics of_toml;
  const auto toml = read(spec::parse_toml(input, "job.toml", of_toml), of_toml);
  check(toml, of_toml);
  Diagnostics of_json;
  const auto json = read(spec::parse_json(input, "job.json", of_json), of_json);
  check(json, of_json);
}
