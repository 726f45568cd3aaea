// SPDX-License-Identifier: Apache-2.0
// The container of one rank's program: the mounts and devices that the node has for it, the choice
// of the runtime, and the command that is started instead of the program.
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

// The variables that the user wants in the container, with their values on this node. A name
// without a value is logged and omitted.
[[nodiscard]] plan::Environment own_variables(const spec::Container& container);

[[nodiscard]] bool has_variable(const plan::Environment& variables, std::string_view name);

// The program that runs inside the container.
struct EnclosedProgram {
  std::vector<std::string> argv;
  Program::Limits limits{};
};

class RankContainer {
 public:
  explicit RankContainer(RankPlace place) : place_(std::move(place)) {}

  // Returns the command and environment to start instead of `program`. `variables` are the rank's.
  // `segments`: the folder in which the ranks of this node share memory; empty: there is none.
  // Errors say what the node lacks, and count as failures of the program (exit_code_of_start()).
  [[nodiscard]] Result<ContainerCommand> enclose(const spec::Container& container,
                                                 const EnclosedProgram& program,
                                                 const plan::Environment& variables,
                                                 unsigned gpus_per_node,
                                                 const std::string& segments);

  // The path of the program's heartbeat page, which is the same inside and outside.
  [[nodiscard]] std::string page_file(const std::string& segments) const;

  // Ends what is left of a container whose client was killed.
  void remove() const;

 private:
  [[nodiscard]] Result<ContainerOrder> order_for(const spec::Container& container,
                                                 const std::string& segments) const;

  // A folder that exists inside and outside, and that no other user can read.
  [[nodiscard]] std::string shared_folder(const std::string& segments) const;

  RankPlace place_;
  std::vector<std::string> removal_;
};

}  // namespace dts::launch
