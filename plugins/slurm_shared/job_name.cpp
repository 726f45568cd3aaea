// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/job_name.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <system_error>

namespace slurm_plugin {
namespace {

// Takes the digits at the beginning of `text`; nullopt if there are none, or too many.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::optional<JobName> parse_job_name(std::string_view text) {
  const auto number = take_number(text);
  if (!number || *number == 0) return std::nullopt;
  JobName name{*number};
  if (text.empty()) return name;
  const char mark = text.front();
  text.remove_prefix(1);
  const auto part = take_number(text);
  if (!part || !text.empty()) return std::nullopt;
  if (mark == '_') name.task = part;
  if (mark == '+') name.component = part;
  return mark == '_' || mark == '+' ? std::optional(name) : std::nullopt;
}

Outcome<JobName> job_name(const json& request) {
  const auto text = request.at("id").get<std::string>();
  if (const auto name = parse_job_name(text)) return *name;
  return failed("invalid",
                "`" + text + "` is not a job id of Slurm",
                "one is a number, NUMBER_TASK of an array or NUMBER+OFFSET of a heterogeneous job");
}

std::string named_job(const json& request) {
  return "job " + request.at("id").get<std::string>();
}

}  // namespace slurm_plugin
