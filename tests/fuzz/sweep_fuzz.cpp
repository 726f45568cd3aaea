// SPDX-License-Identifier: Apache-2.0
// --sweep, --sweep-mode, --array and CSV files, one a line: what is accepted is within the limits,
// can be written and read again, and never reaches a program as anything but text.
#include "core/sweep/element.hpp"
#include "core/sweep/json.hpp"
#include "core/sweep/sweep.hpp"
#include "tests/support/fuzz.hpp"

#include <algorithm>
#include <string>

using dts::tests::must;
namespace sweep = dts::sweep;

namespace {

void check(const sweep::Typed& typed) {
  const auto made = sweep::make_sweep(typed);
  if (!made) {
    must(!made.error().empty());
    return;
  }
  must(!made->elements.empty() && made->elements.size() <= dts::k_most_elements);
  const auto back = sweep::sweep_from_json(sweep::to_json(*made), "sweep.json");
  must(back && sweep::to_json(*back) == sweep::to_json(*made));
  const auto array = dts::parse_array_indices(made->array());
  must(array && array->indices.size() == made->elements.size());
  const sweep::Element& element = made->elements.back();
  must(made->find(element.index) != nullptr && element.values.size() == made->names.size());
  const auto membership = sweep::membership_of(*made, element, dts::JobId(7));
  must(sweep::membership_from_json(sweep::to_json(membership), "element.json").has_value());
  for (const auto& [name, value] : sweep::variables_of(membership))
    must(name.find_first_of("=\n") == std::string::npos && value.find('\0') == std::string::npos);
}

std::string take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace

DTS_FUZZ_TARGET(input) {
  std::string_view rest = input;
  sweep::Typed typed;
  typed.mode = take_line(rest);
  typed.array = take_line(rest);
  typed.sweep = {take_line(rest), take_line(rest)};
  if (typed.sweep.back().empty()) typed.sweep.pop_back();
  const std::string file(rest);
  typed.read_file = [&](const std::string&) { return dts::Result<std::string>(file); };
  check(typed);
  typed.sweep = {"table.csv"};
  typed.mode.clear();
  typed.array.clear();
  check(typed);
  const std::string text(input);
  [[maybe_unused]] const auto damaged = sweep::sweep_from_json(text, "sweep.json");
  const sweep::Assignments values{{"lr", "1"}, {"index", "0"}};
  must(text.find('{') != std::string::npos || sweep::substitute(text, values) == text);
  dts::Diagnostics problems;
  sweep::check_placeholders(text, {"lr"}, "command", problems);
}
