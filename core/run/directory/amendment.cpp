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

nlohmann::ordered_json texts_to_json(const Amendment& amendment) {
  return {{"spec", bytes_to_json(amendment.spec)},
          {"plan", bytes_to_json(amendment.plan)},
          {"script", bytes_to_json(amendment.script)}};
}

std::string to_json(const Amendment& amendment) {
  nlohmann::ordered_json document = texts_to_json(amendment);
  document["schema"] = k_amendment_schema;
  document["parts"] = nlohmann::ordered_json::object();
  for (const Amendment& part : amendment.parts)
    document["parts"][part.folder] = texts_to_json(part);
  return document.dump() + "\n";
}

std::optional<Amendment> texts_from_json(const nlohmann::json& object) {
  const auto bytes_of = [&](const char* key) {
    return object.is_object() ? bytes_from_json(object.value(key, nlohmann::json())) : std::nullopt;
  };
  auto spec = bytes_of("spec");
  auto plan = bytes_of("plan");
  auto script = bytes_of("script");
  if (!spec || !plan || !script) return std::nullopt;
  return Amendment{*std::move(spec), *std::move(plan), *std::move(script)};
}

// nullopt if dtsubmit did not write the text.
std::optional<Amendment> from_json(const std::string& text) {
  const auto document = nlohmann::json::parse(text, nullptr, false);
  auto amendment = texts_from_json(document);
  if (!amendment || document.value("schema", nlohmann::json()) != k_amendment_schema)
    return std::nullopt;
  const auto parts = document.value("parts", nlohmann::json::object());
  for (const auto& [folder, object] : parts.items()) {
    auto part = texts_from_json(object);
    if (!part) return std::nullopt;
    part->folder = folder;
    amendment->parts.push_back(*std::move(part));
  }
  return amendment;
}

Result<void> write_texts(const RunDirectory& run, const Amendment& amendment) {
  DTS_TRY(write_file(run.spec(), amendment.spec));
  DTS_TRY(write_file(run.plan(), amendment.plan));
  if (!amendment.script.empty()) DTS_TRY(write_file(run.script(), amendment.script));
  return {};
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
  const auto amendment = from_json(*text);
  if (!amendment)
    return fail(Errc::invalid,
                run.amendment() + " is not as dtsubmit wrote it",
                "remove it, and check spec.json and plan.json beside it");
  for (const Amendment& part : amendment->parts)
    DTS_TRY(write_texts({run.path + "/" + part.folder}, part));
  DTS_TRY(write_texts(run, *amendment));
  return remove_all(run.amendment());
}

}  // namespace dts::run
