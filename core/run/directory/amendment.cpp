// SPDX-License-Identifier: Apache-2.0
#include "core/run/directory/amendment.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/text/json_bytes.hpp"

#include <nlohmann/json.hpp>

#include <optional>

namespace dts::run {
namespace {

constexpr const char* k_amendment_schema = "dtsubmit/amendment/1";

std::string to_json(const Amendment& amendment) {
  const nlohmann::ordered_json document{{"schema", k_amendment_schema},
                                        {"spec", bytes_to_json(amendment.spec)},
                                        {"plan", bytes_to_json(amendment.plan)},
                                        {"script", bytes_to_json(amendment.script)}};
  return document.dump() + "\n";
}

Result<Amendment> amendment_from_json(const std::string& text, const std::string& path) {
  const auto document = nlohmann::json::parse(text, nullptr, false);
  const auto bytes_of = [&](const char* key) {
    return document.is_object() ? bytes_from_json(document.value(key, nlohmann::json()))
                                : std::nullopt;
  };
  const auto spec = bytes_of("spec");
  const auto plan = bytes_of("plan");
  const auto script = bytes_of("script");
  if (bytes_of("schema") != k_amendment_schema || !spec || !plan || !script)
    return fail(Errc::invalid,
                path + " is not as dtsubmit wrote it",
                "remove it, and check spec.json and plan.json beside it");
  return Amendment{*spec, *plan, *script};
}

}  // namespace

Result<void> amend(const RunDirectory& run, const Amendment& amendment) {
  DTS_TRY(write_file(run.amendment(), to_json(amendment)));
  return complete_amendment(run);
}

Result<void> complete_amendment(const RunDirectory& run) {
  const auto text = read_own_file(run.amendment());
  if (!text && text.error().code == Errc::not_found) return {};
  if (!text) return tl::unexpected<Error>(text.error());
  DTS_ASSIGN(const Amendment amendment, amendment_from_json(*text, run.amendment()));
  DTS_TRY(write_file(run.spec(), amendment.spec));
  DTS_TRY(write_file(run.plan(), amendment.plan));
  if (!amendment.script.empty()) DTS_TRY(write_file(run.script(), amendment.script));
  return remove_all(run.amendment());
}

}  // namespace dts::run
