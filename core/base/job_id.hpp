// SPDX-License-Identifier: Apache-2.0
// The name that a scheduler gives a job: "4711", "4711_3", "q7.alpha". Only the scheduler's plug-in
// knows what it means.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dts {

// Equal ids mean the same job of the same scheduler; their order has no meaning.
class JobId {
 public:
  JobId() = default;  // no job

  explicit JobId(std::uint32_t number)  // 0: no job
      : text_(number == 0 ? "" : std::to_string(number)) {}

  // nullopt for text that cannot be an id: empty, longer than k_longest, 0, or with characters
  // other than ASCII letters, digits and . _ + - @ : [ ]; the first must be a letter or digit. A
  // number loses its leading zeros.
  [[nodiscard]] static std::optional<JobId> parse(std::string_view text);

  static constexpr std::size_t k_longest = 128;

  [[nodiscard]] bool empty() const { return text_.empty(); }

  [[nodiscard]] const std::string& text() const { return text_; }

  // The id as a plain number, if it is one. 0: no job.
  [[nodiscard]] std::optional<std::uint32_t> number() const;

  friend bool operator==(const JobId&, const JobId&) = default;
  friend auto operator<=>(const JobId&, const JobId&) = default;

 private:
  std::string text_;
};

// In JSON, a plain number is a number (0: no job), any other id is a string.
template <class Json>
void to_json(Json& into, const JobId& id) {
  if (const auto number = id.number())
    into = *number;
  else
    into = id.text();
}

// The inverse; nullopt for any other value.
template <class Json>
[[nodiscard]] std::optional<JobId> job_id_from(const Json& value) {
  if (value.is_string()) return JobId::parse(value.template get<std::string>());
  if (!value.is_number_unsigned()) return std::nullopt;
  const auto number = value.template get<std::uint64_t>();
  if (number > UINT32_MAX) return std::nullopt;
  return JobId(static_cast<std::uint32_t>(number));
}

}  // namespace dts

template <>
struct fmt::formatter<dts::JobId> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const dts::JobId& id, Context& context) const {
    return fmt::formatter<std::string_view>::format(id.text(), context);
  }
};
