// SPDX-License-Identifier: Apache-2.0
#include "core/run/ledger/event_line.hpp"

#include "core/base/text/utf8.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

namespace dts::run {
namespace {

using nlohmann::json;

constexpr std::size_t k_longest_text = 2000;
constexpr std::uint64_t k_most_steps = 1'000'000'000'000'000;

template <class Member>
struct Field {
  std::string_view name;
  Member Event::*member;
};

constexpr std::array<Field<std::string>, 8> k_texts{{{"time", &Event::time},
                                                     {"event", &Event::event},
                                                     {"cause", &Event::cause},
                                                     {"decision", &Event::decision},
                                                     {"detail", &Event::detail},
                                                     {"checkpoint", &Event::checkpoint},
                                                     {"node", &Event::node},
                                                     {"phase", &Event::phase}}};
constexpr std::array<Field<std::uint32_t>, 2> k_counts{
    {{"attempt", &Event::attempt}, {"job", &Event::job}}};
constexpr std::array<Field<int>, 2> k_codes{
    {{"exit_code", &Event::exit_code}, {"rank", &Event::rank}}};

template <class Fields>
auto member_of(const Fields& fields, std::string_view name) -> decltype(fields.front().member) {
  for (const auto& field : fields)
    if (field.name == name) return field.member;
  return nullptr;
}

// Takes the parser's words one after the other; false ends it: the line is no event.
class EventReader final : public nlohmann::json_sax<json> {
 public:
  Event event;

  [[nodiscard]] bool is_whole() const { return has_time_ && has_event_; }

  bool null() override { return in_unknown(); }

  bool boolean(bool value) override {
    if (in_unknown()) return true;
    if (in_ != In::event || (name_ != "unsaved" && name_ != "saved")) return false;
    (name_ == "saved" ? event.saved : event.unsaved) = value;
    return true;
  }

  bool number_integer(number_integer_t value) override {
    if (in_unknown()) return true;
    if (in_ == In::seconds) return second(static_cast<double>(value));
    if (in_ == In::event && name_ == "step") return value == -1;
    const auto code = in_ == In::event ? member_of(k_codes, name_) : nullptr;
    if (code == nullptr || value < -1) return false;
    event.*code = static_cast<int>(value);
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (in_unknown()) return true;
    if (in_ == In::seconds) return second(static_cast<double>(value));
    if (in_ != In::event) return false;
    if (const auto code = member_of(k_codes, name_)) {
      if (value > static_cast<number_unsigned_t>(std::numeric_limits<int>::max())) return false;
      event.*code = static_cast<int>(value);
      return true;
    }
    if (name_ == "step") {
      event.step = static_cast<std::int64_t>(std::min<number_unsigned_t>(value, k_most_steps));
      return true;
    }
    const auto count = member_of(k_counts, name_);
    if (count == nullptr || value > std::numeric_limits<std::uint32_t>::max()) return false;
    event.*count = static_cast<std::uint32_t>(value);
    return true;
  }

  bool number_float(number_float_t value, const string_t&) override {
    if (in_unknown()) return true;
    return in_ == In::seconds && second(value);
  }

  bool string(string_t& value) override {
    if (in_unknown()) return true;
    if (in_ == In::nodes) {
      event.nodes.push_back(std::move(value));
      return true;
    }
    const auto text = in_ == In::event ? member_of(k_texts, name_) : nullptr;
    if (text == nullptr) return false;
    has_time_ = has_time_ || name_ == "time";
    has_event_ = has_event_ || name_ == "event";
    event.*text = printable(value, k_longest_text);  // whoever reads it shows it to people
    return true;
  }

  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override {
    if (in_ == In::nothing) return enter(In::event);
    if (in_unknown(1)) return true;
    return in_ == In::event && name_ == "seconds" && enter(In::seconds);
  }

  bool end_object() override { return leave(); }

  bool start_array(std::size_t) override {
    if (in_unknown(1)) return true;
    return in_ == In::event && name_ == "nodes" && enter(In::nodes);
  }

  bool end_array() override { return leave(); }

  bool key(string_t& value) override {
    name_.swap(value);
    if (in_ == In::event && depth_ == 0) known_ = is_known();
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const json::exception&) override {
    return false;
  }

 private:
  enum class In { nothing, event, nodes, seconds };

  [[nodiscard]] bool is_known() const {
    return member_of(k_texts, name_) != nullptr || member_of(k_counts, name_) != nullptr ||
           member_of(k_codes, name_) != nullptr || name_ == "unsaved" || name_ == "saved" ||
           name_ == "step" || name_ == "nodes" || name_ == "seconds";
  }

  // True inside a member of a later release, which `deeper` begins one more level of.
  bool in_unknown(unsigned deeper = 0) {
    if (in_ != In::event || known_) return false;
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
      in_ = in_ == In::event ? In::nothing : In::event;
    return true;
  }

  bool second(double value) {
    event.seconds[name_] = value;
    return true;
  }

  In in_ = In::nothing;
  bool known_ = true;   // the member that is being read
  unsigned depth_ = 0;  // of what is open inside an unknown one
  std::string name_;
  bool has_time_ = false;
  bool has_event_ = false;
};

}  // namespace

std::optional<Event> event_from(std::string_view line) {
  if (line.empty() || line.front() != '{') return std::nullopt;
  EventReader reader;
  const bool read = json::sax_parse(line.begin(), line.end(), &reader);
  if (!read || !reader.is_whole()) return std::nullopt;
  return std::move(reader.event);
}

}  // namespace dts::run
