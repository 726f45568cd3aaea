// SPDX-License-Identifier: Apache-2.0
// One save and one load of a state: bench_checkpoint save|load FOLDER MIB PARTS prints its seconds,
// and of a save also those of the copy, for which training stands still. PARTS files are written
// one after the other.
#include "core/train/checkpoint/checkpoint.hpp"

#include "core/base/files/files.hpp"
#include "core/train/models/model_table.hpp"

#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <string>

namespace {

using namespace dts::train;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

int save(const std::string& folder, const Layout& layout, int parts) {
  State state(layout);
  initialise(layout, 1, state);
  Manifest manifest{0, 0, 1, digest(state), {}, {}};
  double copying = 0;
  Snapshot first(layout, parts, 0);
  first.take(state);  // as at every save but the first, its memory is there
  Clock::time_point start = Clock::now();
  for (int part = 0; part < parts; ++part) {
    Snapshot other(layout, parts, part);
    Snapshot& snapshot = part == 0 ? first : other;
    const Clock::time_point copy = Clock::now();
    snapshot.take(state);
    copying += since(copy);
    auto file = snapshot.write(folder + "/" + part_name(parts, part));
    if (!file) return 1;
    manifest.files.push_back(*std::move(file));
  }
  if (!dts::write_file(folder + "/" + k_manifest_file, encode_manifest(manifest))) return 1;
  fmt::print("{} {}\n", since(start), copying);
  return 0;
}

int load(const std::string& folder, const Layout& layout) {
  State state(layout);
  const Clock::time_point start = Clock::now();
  if (!read_checkpoint(folder, layout, &state)) return 1;
  fmt::print("{}\n", since(start));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  Layout layout = make_model("cnn2").value().layout;
  layout.add_ballast(std::atoi(argv[3]));
  return std::string(argv[1]) == "save" ? save(argv[2], layout, std::atoi(argv[4]))
                                        : load(argv[2], layout);
}
