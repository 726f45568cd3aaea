// SPDX-License-Identifier: Apache-2.0
// A sweep: one program, started once per element of a job array, each with its own values of the
// parameters. An array without parameters is a sweep, too. Pure, thread-safe.
#pragma once

#include "core/base/diagnostics.hpp"
#include "core/base/result.hpp"
#include "core/base/text/array_indices.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dts::sweep {

inline constexpr std::size_t k_most_parameters = 64;
inline constexpr std::size_t k_largest_csv = std::size_t{16} << 20;

struct Element {
  unsigned index = 0;               // in the array
  std::vector<std::string> values;  // in the order of Sweep::names
};

struct Sweep {
  std::string mode;                   // "grid", "zip", "random" or "csv"; empty: no parameters
  std::optional<std::uint64_t> seed;  // random only
  std::vector<std::string> names;
  std::vector<Element> elements;  // at least one, by ascending index
  unsigned at_once = 0;           // elements that may run at the same time; 0: no limit

  // The indices in sbatch's notation: "0-19%4".
  [[nodiscard]] std::string array() const;

  // Null if there is none with that index.
  [[nodiscard]] const Element* find(unsigned index) const;
};

// What the user typed.
struct Typed {
  std::vector<std::string> sweep;  // each "NAME=VALUES" or one file "NAME.csv"
  std::string mode;                // "grid", "zip", "random:N[:SEED]"; empty: grid
  std::string array;               // empty: one index per element, from 0
  // Reads a file; its errors are reported as they are.
  std::function<Result<std::string>(const std::string& path)> read_file;
};

// Reports every problem at once.
[[nodiscard]] tl::expected<Sweep, Diagnostics> make_sweep(const Typed& typed);

// Checks the array against a cluster where indices must be below `max_array_size` (0: unknown).
[[nodiscard]] std::optional<Diagnostic> check_size(const Sweep& sweep,
                                                   std::uint32_t max_array_size);

}  // namespace dts::sweep
