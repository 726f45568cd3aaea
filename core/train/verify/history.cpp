// SPDX-License-Identifier: Apache-2.0
#include "core/train/verify/history.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace dts::train {
namespace {

using nlohmann::json;

// 16 hexadecimal digits, "0123456789abcdef"; empty if the member is absent.
Result<std::string> digest_in(const json& line, const char* name) {
  const auto found = line.find(name);
  if (found == line.end()) return std::string();
  const std::string text = found->is_string() ? found->get<std::string>() : std::string();
  if (text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos)
    return text;
  return fail(Errc::invalid, fmt::format("{} is not 16 hexadecimal digits", name));
}

Result<void> take(std::string_view text, History& history) {
  const json line = json::parse(text, nullptr, false);
  if (!line.is_object()) return fail(Errc::invalid, "not a JSON object");
  const auto step = line.find("step");
  if (step == line.end() || !step->is_number_unsigned())
    return fail(Errc::invalid, "step is missing or not a number");
  DTS_ASSIGN(const std::string root, digest_in(line, "root"));
  DTS_ASSIGN(const std::string digest, digest_in(line, "digest"));
  if (!root.empty()) history.roots[step->get<std::uint64_t>()] = root;
  if (!digest.empty()) history.digests[step->get<std::uint64_t>()] = digest;
  return {};
}

}  // namespace

Result<History> parse_history(std::string_view metrics) {
  History history;
  for (std::size_t number = 1; !metrics.empty(); ++number) {
    const std::size_t end = metrics.find('\n');
    if (end == std::string_view::npos) break;
    if (auto taken = take(metrics.substr(0, end), history); !taken)
      return tl::unexpected(std::move(taken).error().during(fmt::format("line {}", number)));
    metrics.remove_prefix(end + 1);
  }
  return history;
}

Comparison compare(const StepDigests& there, const StepDigests& here) {
  Comparison made;
  for (const auto& [step, digest] : there) {
    const auto other = here.find(step);
    if (other == here.end()) continue;
    ++made.compared;
    if (made.differs) continue;
    if (other->second == digest) {
      made.equal = step;
      continue;
    }
    made.differs = step;
    made.there = digest;
    made.here = other->second;
  }
  return made;
}

}  // namespace dts::train
