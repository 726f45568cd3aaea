// SPDX-License-Identifier: Apache-2.0
#include "core/run/event/event_record.hpp"

#include "core/base/text/utf8.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace dts::run {
namespace {

constexpr std::size_t k_longest_text = 2000;
constexpr std::int64_t k_most_steps = 1'000'000'000'000'000;

// Receives the parser's events; returning false stops it, because the line is not a record.
class RecordReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Record record;

  bool null() override { return in_unknown(); }

  bool boolean(bool value) override { return in_unknown() || (is(MemberKind::flag) && set(value)); }

  bool number_integer(number_integer_t value) override {
    if (in_unknown()) return true;
    if (in_ == In::seconds) return second(static_cast<double>(value));
    const bool none = value == -1 && (is(MemberKind::code) || is(MemberKind::step));
    return none && set(std::monostate());
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (in_unknown()) return true;
    if (in_ == In::seconds) return second(static_cast<double>(value));
    if (is(MemberKind::step)) return set(std::min<number_unsigned_t>(value, k_most_steps));
    if (is(MemberKind::code)) return value <= k_most_code && set(value);
    if (value > k_most_count) return false;
    if (is(MemberKind::job)) return set(JobId(static_cast<std::uint32_t>(value)));
    return is(MemberKind::count) && set(value);
  }

  bool number_float(number_float_t value, const string_t&) override {
    return in_unknown() || (in_ == In::seconds && second(value));
  }

  bool string(string_t& value) override {
    if (in_unknown()) return true;
    if (in_ == In::names) {
      std::get<std::vector<std::string>>(member()).push_back(std::move(value));
      return true;
    }
    if (is(MemberKind::job)) {
      auto id = JobId::parse(value);
      return id && set(*std::move(id));
    }
    // Made printable, because users will see it.
    return is(MemberKind::text) && set(printable(value, k_longest_text));
  }

  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override {
    if (in_ == In::nothing) return enter(In::record);
    if (in_unknown(1)) return true;
    return is(MemberKind::seconds) && set(std::map<std::string, double>()) && enter(In::seconds);
  }

  bool end_object() override { return leave(); }

  bool start_array(std::size_t) override {
    if (in_unknown(1)) return true;
    return is(MemberKind::names) && set(std::vector<std::string>()) && enter(In::names);
  }

  bool end_array() override { return leave(); }

  bool key(string_t& value) override {
    if (in_ == In::record && depth_ == 0) place_ = place_of(value);
    if (in_ == In::seconds) second_.swap(value);
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 private:
  enum class In { nothing, record, names, seconds };

  static constexpr number_unsigned_t k_most_code = std::numeric_limits<int>::max();
  static constexpr number_unsigned_t k_most_count = std::numeric_limits<std::uint32_t>::max();

  // The member being read.
  MemberValue& member() { return record.at(place_); }

  [[nodiscard]] bool is(MemberKind kind) const {
    return in_ == In::record && place_ < k_members.size() && k_members.at(place_).kind == kind;
  }

  template <class Value>
  bool set(Value value) {
    if constexpr (std::is_same_v<Value, number_unsigned_t>)
      member() = static_cast<std::int64_t>(value);
    else
      member() = std::move(value);
    return true;
  }

  // True inside a member of a later release. `deeper` is added to the nesting depth there.
  bool in_unknown(unsigned deeper = 0) {
    if (in_ != In::record || place_ < k_members.size()) return false;
    depth_ += deeper;
    return true;
  }

  bool enter(In what) {
    in_ = what;
    return true;
  }

  bool leave() {
    if (depth_ > 0)
      --depth_;
    else
      in_ = in_ == In::record ? In::nothing : In::record;
    return true;
  }

  bool second(double value) {
    std::get<std::map<std::string, double>>(member())[second_] = value;
    return true;
  }

  In in_ = In::nothing;
  std::size_t place_ = 0;
  unsigned depth_ = 0;  // nesting depth inside a member of a later release
  std::string second_;  // name of the entry of "seconds" that is being read
};

}  // namespace

std::optional<Record> record_from(std::string_view line) {
  if (line.empty() || line.front() != '{') return std::nullopt;
  RecordReader reader;
  if (!nlohmann::json::sax_parse(line.begin(), line.end(), &reader)) return std::nullopt;
  return std::move(reader.record);
}

}  // namespace dts::run
