// SPDX-License-Identifier: Apache-2.0
// Lines of the control channel: whatever arrives is refused with a message, or is a message that
// survives being sent again.
#include "core/launch/binding/binding_report.hpp"
#include "core/launch/health/node_choice.hpp"
#include "core/launch/wire/protocol.hpp"
#include "tests/support/fuzz.hpp"

#include <string>
#include <string_view>

namespace {

using dts::tests::must;
using namespace dts::launch;

template <class Parse>
void check(std::string_view input, const Parse& parse) {
  const auto message = parse(input);
  if (!message) return must(!message.error().message.empty());
  const std::string line = to_line(*message);
  const auto back = parse(line);
  must(line.find('\n') == std::string::npos && back && to_line(*back) == line);
}

}  // namespace

DTS_FUZZ_TARGET(input) {
  check(input, parse_from_rank);
  check(input, parse_to_rank);
  if (const auto facts = parse_node_facts(input)) {
    const auto back = parse_node_facts(to_text(*facts));
    must(back && to_text(*back) == to_text(*facts));
    (void)judge(*facts, {"/runs/a", 2, 2, 1000});
  }
  if (const auto report = parse_node_report(input)) {
    const auto back = parse_node_report(to_text(*report));
    must(back && to_text(*back) == to_text(*report));
  }
  if (const auto bound = parse_bound_state(input)) {
    const auto back = parse_bound_state(to_text(*bound));
    must(back && *back == *bound);
    (void)judge_binding({{0, 1}, {}, 8}, *bound);
  }
  if (const auto report = binding_report_from(input)) {
    const auto back = binding_report_from(to_json(*report));
    must(back && *back == *report);
    (void)in_lines(*report);
  }
  if (const auto channel = parse_channel_file(input)) {
    must(channel->port <= 65535);
    const auto back = parse_channel_file(to_text(*channel));
    must(back && to_text(*back) == to_text(*channel));
  }
}
