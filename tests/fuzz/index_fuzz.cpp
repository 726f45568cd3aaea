// SPDX-License-Identifier: Apache-2.0
// The index of a user's runs: whatever is in it, what it gives are absolute folders, and what was
// read survives being written again.
#include "core/run/index/index.hpp"
#include "tests/support/fuzz.hpp"

#include <string>

using dts::tests::must;

DTS_FUZZ_TARGET(input) {
  using namespace dts::run;
  const std::vector<Indexed> entries = parse_index(input);
  std::string again;
  for (const Indexed& entry : entries) {
    must(entry.folder.front() == '/');
    again += to_line(entry) + "\n";
  }
  const std::vector<Indexed> back = parse_index(again);
  must(back.size() == entries.size());
  for (std::size_t i = 0; i < back.size(); ++i)
    must(back[i].folder == entries[i].folder && back[i].job == entries[i].job &&
         back[i].cluster == entries[i].cluster);
  for (const char* what : {"last", "7", "a-20260102T030405-abcdef", ""})
    must(matches(entries, what, "").size() <= entries.size());
}
