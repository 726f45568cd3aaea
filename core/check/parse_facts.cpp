// SPDX-License-Identifier: Apache-2.0
#include "core/base/diagnostics.hpp"
#include "core/base/text/text.hpp"
#include "core/check/facts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

namespace dts::check {
namespace {

using nlohmann::json;

constexpr std::size_t k_most_problems = 20;
constexpr std::size_t k_longest_text = 4096;
constexpr unsigned k_most_repeats = 1'000'000;
constexpr std::size_t k_most_gpus = 1024;

// Reads members of an object, and reports each that is not as expected, with its place.
class Reader {
 public:
  Reader(const json& object, std::string place, Diagnostics& problems)
      : object_(object), place_(std::move(place)), problems_(problems) {
    if (!object_.is_object()) complain("", "an object is expected");
  }

  std::string text(const char* name) const {
    const json* value = find(name);
    if (value == nullptr) return {};
    const auto* text = value->get_ptr<const std::string*>();
    if (text == nullptr || text->size() > k_longest_text || !is_printable(*text)) {
      complain(name, "a printable text is expected");
      return {};
    }
    return *text;
  }

  std::string name(const char* name) const {
    std::string found = text(name);
    if (found.empty()) complain(name, "a name is expected");
    return found;
  }

  std::optional<double> number(const char* name, double least = 0) const {
    const json* value = find(name);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number() || !std::isfinite(value->get<double>()) ||
        value->get<double>() < least) {
      complain(name, "a finite number is expected, not negative");
      return std::nullopt;
    }
    return value->get<double>();
  }

  std::optional<unsigned> whole(const char* name) const {
    const json* value = find(name);
    if (value == nullptr) return std::nullopt;
    return whole(*value, name);
  }

  std::optional<unsigned> whole(const json& value, const std::string& name) const {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() <= k_most_repeats)
      return value.get<unsigned>();
    complain(name, "a whole number up to a million is expected");
    return std::nullopt;
  }

  bool flag(const char* name) const {
    const json* value = find(name);
    if (value != nullptr && !value->is_boolean()) complain(name, "true or false is expected");
    return value != nullptr && value->is_boolean() && value->get<bool>();
  }

  // Calls read(element, its place) for each element of a list.
  template <class Read>
  void each(const char* name, std::size_t most, const Read& read) const {
    const json* value = find(name);
    if (value == nullptr) return;
    if (!value->is_array() || value->size() > most)
      return complain(name, fmt::format("a list of at most {} is expected", most));
    for (std::size_t i = 0; i < value->size() && problems_.size() < k_most_problems; ++i)
      read((*value)[i], fmt::format("{}[{}]", place_of(name), i));
  }

  std::vector<std::string> texts(const char* name) const {
    std::vector<std::string> all;
    each(name, 1024, [&](const json& one, const std::string& place) {
      const auto* text = one.get_ptr<const std::string*>();
      if (text != nullptr && text->size() <= k_longest_text && is_printable(*text))
        all.push_back(*text);
      else
        problems_.push_back({place, "a printable text is expected"});
    });
    return all;
  }

  const json* find(const char* name) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }

  void complain(const std::string& name, const std::string& what) const {
    if (problems_.size() < k_most_problems) problems_.push_back({place_of(name), what});
  }

 private:
  std::string place_of(const std::string& name) const {
    if (name.empty()) return place_.empty() ? "the document" : place_;
    return place_.empty() ? name : place_ + "." + name;
  }

  const json& object_;
  std::string place_;
  Diagnostics& problems_;
};

Measured read_measure(const Reader& reader) {
  Measured measure;
  measure.key = reader.name("key");
  // A clock may be behind, so its offset may be negative.
  const auto value = reader.number("value", measure.key == "clock_offset" ? -1e18 : 0);
  if (value)
    measure.value = *value;
  else if (reader.find("value") == nullptr)
    reader.complain("value", "is missing");
  measure.unit = reader.text("unit");
  measure.numa = reader.whole("numa");
  measure.gpu = reader.whole("gpu");
  measure.peer = reader.whole("peer");
  measure.model = reader.text("model");
  measure.what = reader.text("what");
  measure.path = reader.text("path");
  measure.others = reader.number("others");
  if (measure.others && *measure.others > 1)
    reader.complain("others", "a share up to 1 is expected");
  return measure;
}

Steps read_steps(const Reader& reader) {
  Steps steps;
  steps.repeats = reader.whole("repeats").value_or(0);
  steps.digest = reader.text("digest");
  reader.each("odd_repeats", k_most_repeats, [&](const json& one, const std::string& place) {
    if (const auto index = reader.whole(one, place)) steps.odd_repeats.push_back(*index);
  });
  return steps;
}

Node read_node(const Reader& reader, Diagnostics& problems) {
  Node node;
  node.name = reader.name("node");
  node.rank = reader.whole("rank").value_or(0);
  node.cpu = reader.text("cpu");
  reader.each("measures", 4096, [&](const json& one, const std::string& place) {
    node.measures.push_back(read_measure(Reader(one, place, problems)));
  });
  if (const json* steps = reader.find("steps"))
    node.steps = read_steps(Reader(*steps, "the steps of " + node.name, problems));
  reader.each("gpu_steps", k_most_gpus, [&](const json& one, const std::string& place) {
    const Reader steps(one, place, problems);
    node.gpu_steps.push_back({steps.whole("gpu").value_or(0),
                              steps.text("model"),
                              steps.text("path"),
                              read_steps(steps)});
  });
  node.notes = reader.texts("notes");
  return node;
}

Pair read_pair(const Reader& reader) {
  return {reader.name("a"),
          reader.name("b"),
          reader.number("latency"),
          reader.number("bandwidth"),
          reader.flag("disturbed")};
}

Collective read_collective(const Reader& reader) {
  return {reader.name("operation"),
          reader.number("bytes").value_or(0),
          reader.number("time").value_or(0),
          reader.number("algbw").value_or(0),
          reader.number("busbw").value_or(0)};
}

Facts read_all(const json& document, Diagnostics& problems) {
  const Reader reader(document, "", problems);
  Facts facts;
  const json* schema = reader.find("schema");
  if (document.is_object() && (schema == nullptr || *schema != k_facts_schema))
    reader.complain("schema", fmt::format("{} is expected", k_facts_schema));
  facts.trainer = reader.text("trainer");
  facts.began = reader.text("began");
  facts.seconds = reader.number("seconds").value_or(0);
  facts.quick = reader.flag("quick");
  facts.gpus_asked = reader.whole("gpus_asked").value_or(0);
  reader.each("nodes", k_most_nodes, [&](const json& one, const std::string& place) {
    facts.nodes.push_back(read_node(Reader(one, place, problems), problems));
  });
  reader.each("pairs", k_most_nodes * 1024, [&](const json& one, const std::string& place) {
    facts.pairs.push_back(read_pair(Reader(one, place, problems)));
  });
  reader.each("collectives", 4096, [&](const json& one, const std::string& place) {
    facts.collectives.push_back(read_collective(Reader(one, place, problems)));
  });
  facts.notes = reader.texts("notes");
  return facts;
}

// Names must identify nodes.
void check_names(const Facts& facts, Diagnostics& problems) {
  std::set<std::string> names;
  for (const Node& node : facts.nodes)
    if (!names.insert(node.name).second)
      problems.push_back({"nodes", fmt::format("{} appears twice", node.name)});
  if (facts.nodes.empty()) problems.push_back({"nodes", "no node was measured"});
  for (const Pair& pair : facts.pairs)
    if (names.count(pair.a) == 0 || names.count(pair.b) == 0 || pair.a == pair.b) {
      problems.push_back(
          {"pairs", fmt::format("{} and {} are not two of the nodes", pair.a, pair.b)});
      return;
    }
}

}  // namespace

Result<Facts> parse_facts(std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded())
    return fail(Errc::invalid,
                "it is not JSON, or incomplete",
                "`dtsubmit check` writes a check.json into its run directory");
  Diagnostics problems;
  Facts facts = read_all(document, problems);
  if (problems.empty()) check_names(facts, problems);
  if (!problems.empty()) return tl::unexpected<Error>(to_error(problems));
  return facts;
}

}  // namespace dts::check
