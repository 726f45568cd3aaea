// SPDX-License-Identifier: Apache-2.0
#include "core/sweep/sweep.hpp"

#include "core/sweep/axis.hpp"
#include "core/sweep/combine.hpp"
#include "core/sweep/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dts::sweep {
namespace {

bool is_file(const std::string& text) {
  const std::size_t equals = text.find('=');
  const bool is_axis = equals != std::string::npos && is_name(text.substr(0, equals));
  return !is_axis && text.size() > 4 && text.compare(text.size() - 4, 4, ".csv") == 0;
}

std::vector<Axis> parse_axes(const std::vector<std::string>& texts, Diagnostics& problems) {
  std::vector<Axis> axes;
  std::vector<std::string> names;
  for (const std::string& text : texts) {
    axes.push_back(parse_axis(text, problems));
    const std::string& name = axes.back().name;
    if (is_name(name))
      if (auto trouble = trouble_with_name(name, names); !trouble.empty())
        problems.push_back({"--sweep", std::move(trouble), "give each parameter a different name"});
    names.push_back(name);
  }
  if (axes.size() > k_most_parameters)
    problems.push_back(
        {"--sweep", fmt::format("{} parameters, at most {}", axes.size(), k_most_parameters)});
  return axes;
}

Rows rows_of_file(const Typed& typed, Sweep& sweep, Diagnostics& problems) {
  if (typed.sweep.size() > 1) {
    problems.push_back({"--sweep",
                        "a CSV file lists all elements, so nothing else can vary",
                        "put the other parameters into its columns"});
    return {};
  }
  if (!typed.mode.empty() && typed.mode != "zip")
    problems.push_back({"--sweep-mode", "a CSV file lists the elements itself", "omit it"});
  sweep.mode = "csv";
  const std::string& path = typed.sweep.front();
  const auto text = typed.read_file(path);
  if (!text) {
    problems.push_back({"--sweep", text.error().message, text.error().hint});
    return {};
  }
  return parse_table(*text, path, sweep.names, problems);
}

Rows rows_of_axes(const Typed& typed, Sweep& sweep, Diagnostics& problems) {
  const std::size_t before = problems.size();
  const std::vector<Axis> axes = parse_axes(typed.sweep, problems);
  for (const Axis& axis : axes) sweep.names.push_back(axis.name);
  const auto mode = parse_mode(typed.mode);
  if (!mode) problems.push_back({"--sweep-mode", mode.error().message, mode.error().hint});
  if (!mode || problems.size() > before) return {};
  sweep.mode = mode->name;
  if (mode->name == "random") sweep.seed = mode->seed;
  auto rows = combine(axes, *mode);
  if (rows) return *std::move(rows);
  problems.push_back({"--sweep", rows.error().message, rows.error().hint});
  return {};
}

// Keeps the elements that --array selects; all of them if it is not given.
void number_elements(Rows rows, const ArrayIndices& array, Sweep& sweep, Diagnostics& problems) {
  if (array.indices.empty()) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      sweep.elements.push_back({static_cast<unsigned>(i), std::move(rows[i])});
    return;
  }
  if (array.indices.back() >= rows.size()) {
    problems.push_back(
        {"--array",
         fmt::format("index {}, but the sweep has {} elements", array.indices.back(), rows.size()),
         fmt::format("indices go from 0 to {}", rows.size() - 1)});
    return;
  }
  for (const unsigned index : array.indices)
    sweep.elements.push_back({index, std::move(rows[index])});
}

}  // namespace

std::string Sweep::array() const {
  ArrayIndices indices;
  indices.at_once = at_once;
  for (const Element& element : elements) indices.indices.push_back(element.index);
  return to_text(indices);
}

const Element* Sweep::find(unsigned index) const {
  const auto found = std::lower_bound(
      elements.begin(), elements.end(), index, [](const Element& element, unsigned wanted) {
        return element.index < wanted;
      });
  return found == elements.end() || found->index != index ? nullptr : &*found;
}

tl::expected<Sweep, Diagnostics> make_sweep(const Typed& typed) {
  Diagnostics problems;
  Sweep sweep;
  ArrayIndices array;
  if (!typed.array.empty()) {
    if (auto parsed = parse_array_indices(typed.array))
      array = *std::move(parsed);
    else
      problems.push_back({"--array", parsed.error().message, parsed.error().hint});
  }
  sweep.at_once = array.at_once;
  if (typed.sweep.empty()) {
    if (!typed.mode.empty())
      problems.push_back({"--sweep-mode", "there is no --sweep", "add one, or omit it"});
    if (array.indices.empty() && problems.empty())
      problems.push_back({"--array", "names no elements", "for example 0-9%4"});
    for (const unsigned index : array.indices) sweep.elements.push_back({index, {}});
  } else {
    const bool has_file = std::any_of(typed.sweep.begin(), typed.sweep.end(), is_file);
    Rows rows =
        has_file ? rows_of_file(typed, sweep, problems) : rows_of_axes(typed, sweep, problems);
    if (problems.empty()) number_elements(std::move(rows), array, sweep, problems);
  }
  if (!problems.empty()) return tl::unexpected<Diagnostics>(std::move(problems));
  return sweep;
}

std::optional<Diagnostic> check_size(const Sweep& sweep, std::uint32_t max_array_size) {
  const unsigned highest = sweep.elements.back().index;
  if (max_array_size == 0 || highest < max_array_size) return std::nullopt;
  return Diagnostic{sweep.names.empty() ? "--array" : "--sweep",
                    fmt::format("index {}: on this cluster an array's indices are below {} "
                                "(MaxArraySize)",
                                highest,
                                max_array_size),
                    sweep.names.empty() ? "use lower indices, or several arrays"
                                        : "choose fewer values, or --sweep-mode random:N"};
}

}  // namespace dts::sweep
