// SPDX-License-Identifier: Apache-2.0
// The container of one rank's program: what the node has for it, the runtime that is used, and what
// is started in place of the program.
#pragma once

#include "core/launch/container/container.hpp"
#include "core/launch/program/program.hpp"
#include "core/launch/wire/protocol.hpp"

#include <string>
#include <vector>

namespace dts::launch {

struct RankPlace {
  std::string run_directory;
  unsigned attempt = 1;
  std::string node;
  unsigned rank = 0;
  unsigned local_rank = 0;
};

// The user's own variables for the program, with their values here; names that have none are
// logged, and left out.
[[nodiscard]] plan::Environment own_variables(const spec::Container& container);

[[nodiscard]] bool has_variable(const plan::Environment& variables, std::string_view name);

// The program that runs inside.
struct EnclosedProgram {
  std::vector<std::string> argv;
  Program::Limits limits{};
};

class RankContainer {
 public:
  explicit RankContainer(RankPlace place) : place_(std::move(place)) {}

  // What to start instead of `program`, with what variables: those of the rank are `variables`.
  // `segments`: the folder of this node's ranks; empty: there is none. Errors say what the node
  // lacks, and are the program's (exit_code_of_start()).
  [[nodiscard]] Result<ContainerCommand> enclose(const spec::Container& container,
                                                 const EnclosedProgram& program,
                                                 const plan::Environment& variables,
                                                 unsigned gpus_per_node,
                                                 const std::string& segments);

  // Where the page of its heartbeat is, inside as outside.
  [[nodiscard]] std::string page_file(const std::string& segments) const;

  // Its client was killed: ends what is left of it.
  void remove() const;

 private:
  [[nodiscard]] Result<ContainerOrder> order_for(const spec::Container& container,
                                                 const std::string& segments) const;

  // A folder that both sides have, which nobody else can read.
  [[nodiscard]] std::string shared_folder(const std::string& segments) const;

  RankPlace place_;
  std::vector<std::string> removal_;
};

}  // namespace dts::launch
