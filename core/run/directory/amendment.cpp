// SPDX-License-Identifier: Apache-2.0
#include "core/run/directory/amendment.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"

#include <nlohmann/json.hpp>

namespace dts::run {
namespace {

constexpr const char* k_amendment_schema = "dtsubmit/amendment/1";

std::string to_json(const Amendment& amendment) {
  const nlohmann::ordered_json document{{"schema", k_amendment_schema},
                                        {"spec", amendment.spec},
                                        {"plan", amendment.plan},
                                        {"script", amendment.script}};
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<Amendment> amendment_from_json(const std::string& text, const std::string& path) {
  const auto document = nlohmann::json::parse(text, nullptr, false);
  const auto text_of = [&](const char* key) -> const std::string* {
    const auto found = document.find(key);
    return found == document.end() ? nullptr : found->get_ptr<const std::string*>();
  };
  const bool is_object = document.is_object();
  const std::string* const schema = is_object ? text_of("schema") : nullptr;
  const std::string* const spec = is_object ? text_of("spec") : nullptr;
  const std::string* const plan = is_object ? text_of("plan") : nullptr;
  const std::string* const script = is_object ? text_of("script") : nullptr;
  if (schema == nullptr || *schema != k_amendment_schema || spec == nullptr || plan == nullptr ||
      script == nullptr)
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
