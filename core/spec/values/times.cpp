// SPDX-License-Identifier: Apache-2.0
// Durations and memory sizes.
#include "core/base/text/text.hpp"
#include "core/base/text/units.hpp"
#include "core/spec/values/json_values.hpp"
#include "core/spec/values/values.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dts::spec {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

Result<Seconds> parse_limit(const std::string& text) {
  return parse_time_limit(text);
}

// parse_length() for values that Slurm and our files store in 16 bits.
Result<Seconds> parse_short(const std::string& text) {
  DTS_ASSIGN(const Seconds length, parse_length(text));
  if (length.count() > k_most)
    return fail(Errc::invalid, fmt::format("`{}` is too long", text), "0 to 65535 seconds");
  return length;
}

Result<Seconds> parse_short_or_off(const std::string& text, Seconds on) {
  if (text == "on") return on;
  if (text == "off") return Seconds(0);
  auto limit = parse_short(text);
  if (!limit) limit.error().hint = "on, off, or how long: 20 (seconds), 20s, 1m";
  return limit;
}

// Rejects zero, which would expire at once.
Result<Seconds> parse_patience(const std::string& text) {
  auto length = parse_length(text);
  if (length && length->count() == 0)
    return fail(Errc::invalid, "no time at all", "UNLIMITED turns hang detection off");
  return length;
}

Result<Seconds> read_time(const json& value) {
  if (!value.is_string())
    return fail(Errc::invalid, R"(expected a string in quotes, e.g. "1:30:00")");
  auto time = parse_time_limit(value.get<std::string>());
  if (!time) return fail(Errc::invalid, time.error().message + ": " + time.error().hint);
  return time;
}

template <class Member, class Parse>
Value with_type(const char* type, Member member, Parse parse) {
  Value value;
  value.type = type;
  value.parse = [member, parse](const std::string& typed, JobSpec& spec) -> Result<void> {
    DTS_ASSIGN(spec.*member, parse(typed));
    return {};
  };
  return value;
}

// Stored in spec.json in Slurm's time limit format.
template <class Member>
void keep_as_limit(Value& value, Member member) {
  value.read = [member](const json& stored, JobSpec& spec) -> Result<void> {
    DTS_ASSIGN(spec.*member, read_time(stored));
    return {};
  };
  value.write = [member](const JobSpec& spec) -> ordered_json {
    const std::optional<Seconds> length = spec.*member;
    if (!length || length->count() == 0) return {};
    return format_time_limit(*length);
  };
}

// Stored in spec.json as a number of seconds.
void keep_as_seconds(Value& value, Seconds JobSpec::*member, unsigned least) {
  value.read = [member](const json& stored, JobSpec& spec) -> Result<void> {
    std::uint32_t seconds = 0;
    DTS_TRY(read_number(stored, seconds));
    spec.*member = Seconds(seconds);
    return {};
  };
  value.write = [member](const JobSpec& spec) { return ordered_json((spec.*member).count()); };
  value.check = [=](const JobSpec& spec, const std::string& option, Diagnostics& problems) {
    if ((spec.*member).count() < least || (spec.*member).count() > k_most)
      problems.push_back({option, fmt::format("must be {} to {} seconds", least, k_most)});
  };
}

}  // namespace

Value time_limit(std::optional<Seconds> JobSpec::*member) {
  Value value = with_type("TIME", member, parse_limit);
  keep_as_limit(value, member);
  value.check = [member](const JobSpec& spec, const std::string& option, Diagnostics& problems) {
    if (spec.*member && (spec.*member)->count() < 1)
      problems.push_back({option, "a time limit of zero", "ask for at least one minute"});
  };
  return value;
}

Value time_limit(Seconds JobSpec::*member) {
  Value value = with_type("TIME", member, parse_limit);
  keep_as_limit(value, member);
  return value;
}

Value length(Seconds JobSpec::*member, unsigned least) {
  Value value = with_type("LENGTH", member, parse_short);
  keep_as_seconds(value, member, least);
  return value;
}

Value length_or_off(Seconds JobSpec::*member, const char* type) {
  const JobSpec defaults;
  const Seconds on = defaults.*member;
  Value value = with_type(
      type, member, [on](const std::string& text) { return parse_short_or_off(text, on); });
  keep_as_seconds(value, member, 0);
  return value;
}

Value patience(std::optional<Seconds> JobSpec::*member) {
  Value value = with_type("LENGTH", member, parse_patience);
  keep_as_limit(value, member);
  return value;
}

Value memory(std::optional<std::uint64_t> JobSpec::*member) {
  Value value =
      with_type("SIZE", member, [](const std::string& text) { return parse_memory_mib(text); });
  value.read = [member](const json& stored, JobSpec& spec) {
    return read_number(stored, (spec.*member).emplace());
  };
  value.write = [member](const JobSpec& spec) {
    return spec.*member ? ordered_json(*(spec.*member)) : ordered_json();
  };
  return value;
}

}  // namespace dts::spec
