// SPDX-License-Identifier: Apache-2.0
// Options: the container that programs run in.
#include "core/base/text/text.hpp"
#include "core/spec/container.hpp"
#include "core/spec/option.hpp"
#include "core/spec/values/json_values.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace dts::spec {
namespace {

Value container_image() {
  Value value;
  value.type = "IMAGE";
  value.repeats = true;  // the last counts; an empty one is rejected as an invalid image
  value.parse = [](const std::string& typed, JobSpec& spec) -> Result<void> {
    DTS_TRY(check_image(typed));
    spec.container.image = typed;
    return {};
  };
  value.read = [](const nlohmann::json& stored, JobSpec& spec) -> Result<void> {
    std::string image;
    DTS_TRY(read_text(stored, image));
    DTS_TRY(check_image(image));
    spec.container.image = std::move(image);
    return {};
  };
  value.write = [](const JobSpec& spec) {
    const std::string& image = spec.container.image;
    return image.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(image);
  };
  value.check = [](const JobSpec& spec, const std::string&, Diagnostics& problems) {
    check_container(spec.container,
                    !spec.command.empty() || !spec.steps.empty() || !spec.roles.empty(),
                    problems);
  };
  return value;
}

std::vector<std::string> runtime_names() {
  std::vector<std::string> names{"auto"};
  for (const ContainerRuntime one : container_runtimes()) names.emplace_back(to_string(one));
  return names;
}

Result<ContainerRuntime> read_runtime(const std::string& name) {
  if (const auto known = container_runtime_from(name)) return *known;
  std::vector<std::string> names = runtime_names();
  const std::string last = names.back();
  names.pop_back();
  return fail(Errc::invalid, "must be " + join(names, ", ") + " or " + last);
}

Value container_runtime() {
  Value value;
  value.type = "RUNTIME";
  value.words = runtime_names();
  value.parse = [](const std::string& typed, JobSpec& spec) -> Result<void> {
    DTS_ASSIGN(spec.container.runtime, read_runtime(typed));
    return {};
  };
  value.read = [](const nlohmann::json& stored, JobSpec& spec) -> Result<void> {
    std::string name;
    DTS_TRY(read_text(stored, name));
    DTS_ASSIGN(spec.container.runtime, read_runtime(name));
    return {};
  };
  value.write = [](const JobSpec& spec) {
    const ContainerRuntime runtime = spec.container.runtime;
    return runtime == ContainerRuntime::automatic ? nlohmann::ordered_json()
                                                  : nlohmann::ordered_json(to_string(runtime));
  };
  return value;
}

// A repeatable option: each text becomes one element of a list in Container.
template <class One>
Value several(const char* type,
              std::vector<One> Container::*list,
              Result<One> (*parse)(std::string_view),
              const char* example) {
  Value value;
  value.type = type;
  value.repeats = true;
  value.parse = [=](const std::string& typed, JobSpec& spec) -> Result<void> {
    DTS_ASSIGN(One one, parse(typed));
    (spec.container.*list).push_back(std::move(one));
    return {};
  };
  value.read = [=](const nlohmann::json& stored, JobSpec& spec) -> Result<void> {
    std::vector<std::string> texts;
    DTS_TRY(read_texts(stored, example, texts));
    std::vector<One> read;
    for (const std::string& text : texts) {
      DTS_ASSIGN(One one, parse(text));
      read.push_back(std::move(one));
    }
    spec.container.*list = std::move(read);
    return {};
  };
  value.write = [=](const JobSpec& spec) {
    nlohmann::ordered_json texts;
    for (const One& one : spec.container.*list) texts.push_back(to_text(one));
    return texts;
  };
  return value;
}

}  // namespace

std::vector<Option> container_options() {
  return {
      {.names = "--container",
       .value = container_image(),
       .help = "container image: a full path or a registry's name",
       .manual =
           R"(Run each rank's program in a container of this image: the full path of a SIF or SquashFS file or of a folder with
a root file system, or a name in a registry, for example
.BR nvcr.io/nvidia/pytorch:24.01\-py3 .
See CONTAINERS in
.BR dtsubmit\-environment (7).
)"},
      {.names = "--container-runtime",
       .value = container_runtime(),
       .help = "what runs it: apptainer, podman, charliecloud, docker, pyxis, ... [auto]",
       .manual = R"(What runs the container:
.BR apptainer ,
.BR singularity ,
.BR podman ,
.BR charliecloud ,
.BR docker ,
.BR shifter ,
.B pyxis
or
.BR auto ,
the default: on each node the first of them that is installed and accepts the image.
)",
       .is_rare = true},
      {.names = "--mount",
       .value = several("SRC[:DST[:ro]]",
                        &Container::mounts,
                        &parse_mount,
                        R"(["/data", "/scratch/a:/data:ro"])"),
       .help = "mount a folder or file of the node in the container; repeatable",
       .manual = R"(Mount a folder or file of the node in the container, at the same path unless
.I DST
is given, read-only with
.BR :ro .
Repeatable.
The working directory and the run directory are always mounted.
)",
       .key = "mounts",
       .is_rare = true},
      {.names = "--container-env",
       .value = several("NAME[=VALUE]",
                        &Container::variables,
                        &parse_container_variable,
                        R"(["HF_HOME", "LEVEL=2"])"),
       .help = "a variable for the program in the container; repeatable",
       .manual =
           R"(A variable for the program in the container, with the value that it has in the job's own environment, or with
.IR VALUE .
Repeatable.
Values are never part of a command line on the nodes; one that is written here is kept in the run directory, which only its
owner can read, so give the name alone for a secret.
)",
       .is_rare = true},
  };
}

}  // namespace dts::spec
