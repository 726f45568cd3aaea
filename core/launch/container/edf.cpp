// SPDX-License-Identifier: Apache-2.0
// Environment definition files of the Container Engine at CSCS, an option of srun:
// https://docs.cscs.ch/software/container-engine/edf and .../run. A definition of our own names the
// user's, or the image, and adds mounts, folder and variables; `env` wins over the image's
// variables. `$` is doubled, since values are expanded.
#include "core/base/text/text.hpp"
#include "core/launch/container/step_options.hpp"

#include <fmt/format.h>

namespace dts::launch {
namespace {

// A basic string of TOML 1.0.
std::string toml_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      quoted += {'\\', c};
    else if (c == '$')
      quoted += "$$";
    else if (byte < 0x20 || byte == 0x7f)
      quoted += fmt::format("\\u{:04X}", byte);
    else
      quoted += c;
  }
  return quoted + "\"";
}

std::string definition(const ContainerOrder& order) {
  std::string text;
  switch (order.image.kind) {
    case ImageKind::edf:
      text = "base_environment = " + toml_string(order.image.name) + "\n";
      break;
    case ImageKind::squashfs:
      text = "image = " + toml_string(order.image.name) + "\n";
      break;
    default:
      text = "image = " + toml_string(enroot_reference(order.image.name)) + "\n";
  }
  std::vector<std::string> mounts = mount_texts(order);
  for (std::string& mount : mounts) mount = "  " + toml_string(mount) + ",\n";
  text += "mounts = [\n" + join(mounts, "") + "]\n";
  text += "workdir = " + toml_string(order.folder) + "\nentrypoint = false\n\n[env]\n";
  for (const auto& [name, value] : order.variables)
    text += name + " = " + toml_string(value) + "\n";
  return text;
}

ContainerCommand by_edf(const ContainerOrder& order) {
  ContainerCommand command;
  command.argv = step_of_program(order);
  command.argv.push_back("--environment=" + order.file);
  command.argv.insert(command.argv.end(), order.program.begin(), order.program.end());
  command.file_text = definition(order);
  command.removal = end_of_step(order);
  command.remove_first = true;
  return command;
}

}  // namespace

const ContainerType k_edf_runtime{"srun",
                                  "--environment",
                                  {ImageKind::edf, ImageKind::squashfs, ImageKind::reference},
                                  true,
                                  true,
                                  false,
                                  by_edf};

}  // namespace dts::launch
