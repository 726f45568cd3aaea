// SPDX-License-Identifier: Apache-2.0
// The texts of --container, --mount and --container-env: what is accepted can be written, read
// again, and given to every runtime without being read in another way.
#include "core/launch/container/container.hpp"
#include "core/spec/container.hpp"
#include "tests/support/fuzz.hpp"

#include <algorithm>

using dts::tests::must;
namespace launch = dts::launch;
namespace spec = dts::spec;

namespace {

void check_words(const spec::ContainerMount& mount) {
  for (const spec::ContainerRuntime runtime : spec::container_runtimes()) {
    if (launch::type_of(runtime).images.empty()) continue;
    launch::ContainerOrder order;
    order.image = {launch::type_of(runtime).images.front(), "/image"};
    order.program = {"program", "end"};
    order.mounts = {mount};
    order.folder = "/folder";
    const auto command = launch::type_of(runtime).command(order);
    must(command.argv.back() == "end");
    for (const std::string& word : command.argv)
      must(word.find('\0') == std::string::npos && word.find('\n') == std::string::npos);
  }
}

}  // namespace

DTS_FUZZ_TARGET(input) {
  if (const auto mount = spec::parse_mount(input)) {
    must(spec::parse_mount(spec::to_text(*mount)) == *mount);
    must(mount->source.front() == '/' && mount->target.front() == '/');
    check_words(*mount);
  }
  if (const auto variable = spec::parse_container_variable(input)) {
    must(spec::to_text(*variable) == input);
    must(spec::parse_container_variable(spec::to_text(*variable)) == *variable);
  }
  if (spec::check_image(input)) {
    must(!input.empty() && input.front() != '-');
    const auto image = launch::read_image(input, false);
    must(image.kind == launch::ImageKind::reference || !image.name.empty());
  }
}
