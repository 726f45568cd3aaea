// SPDX-License-Identifier: Apache-2.0
// Container runtimes: which one is chosen, and that no variable's value is on a command line.
#include "core/launch/container/container.hpp"

#include "core/base/text/text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace dts::launch {
namespace {

using spec::ContainerRuntime;

ContainerOrder an_order(Image image) {
  ContainerOrder order;
  order.image = std::move(image);
  order.program = {"python3", "train.py"};
  order.mounts = {{"/data", "/mnt/data", true}, {"/home/u/run", "/home/u/run", false}};
  order.folder = "/home/u";
  order.variables = {{"RANK", "3"}, {"HF_TOKEN", "hunter2-secret"}};
  order.cpus = {4, 5, 9};
  order.name = "dtsubmit-0a-3";
  order.uid = 1000;
  order.gid = 100;
  order.file = "/dev/shm/x/rank-3.rc";
  return order;
}

Result<RuntimeChoice> choose(ContainerRuntime asked,
                             ImageKind image,
                             const std::set<ContainerRuntime>& installed,
                             std::vector<spec::ContainerMount> mounts = {}) {
  return choose_runtime({"image", asked, std::move(mounts)}, image, [&](ContainerRuntime one) {
    return installed.count(one) > 0;
  });
}

}  // namespace

TEST_CASE("an image is recognised by its name") {
  CHECK(read_image("/a/b.sif", false).kind == ImageKind::file);
  CHECK(read_image("/a/b", true).kind == ImageKind::folder);
  CHECK(read_image("/a/b.sqsh", false).kind == ImageKind::squashfs);
  CHECK(read_image("/a/b.toml", false).kind == ImageKind::edf);
  CHECK(read_image("docker://debian:12", false).name == "debian:12");
  CHECK(read_image("docker://debian:12", false).kind == ImageKind::reference);
  CHECK(read_image("oras://a/b:1", false).kind == ImageKind::other);
  CHECK(read_image("localhost:5000/a:1", false).kind == ImageKind::reference);
}

TEST_CASE("auto takes the first runtime that is installed and accepts the image, and says so") {
  const auto choice = choose(ContainerRuntime::automatic,
                             ImageKind::reference,
                             {ContainerRuntime::docker, ContainerRuntime::charliecloud});
  REQUIRE(choice);
  CHECK(choice->runtime == ContainerRuntime::docker);  // charliecloud does not fetch images
  CHECK(choice->why == "auto: no apptainer, no singularity, no podman");
  const auto folder = choose(ContainerRuntime::automatic,
                             ImageKind::folder,
                             {ContainerRuntime::podman, ContainerRuntime::charliecloud});
  REQUIRE(folder);
  CHECK(folder->runtime == ContainerRuntime::charliecloud);
  const auto sif = choose(ContainerRuntime::automatic,
                          ImageKind::file,
                          {ContainerRuntime::podman, ContainerRuntime::singularity});
  REQUIRE(sif);
  CHECK(sif->runtime == ContainerRuntime::singularity);
  const auto read_only = choose(ContainerRuntime::automatic,
                                ImageKind::folder,
                                {ContainerRuntime::charliecloud, ContainerRuntime::podman},
                                {{"/a", "/a", true}});
  REQUIRE(read_only);
  CHECK(read_only->runtime == ContainerRuntime::podman);
}

TEST_CASE("a missing runtime, or one that cannot run the image, is named") {
  const auto missing = choose(ContainerRuntime::apptainer, ImageKind::file, {});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == Errc::not_found);
  CHECK(missing.error().message == "apptainer is not installed");
  const auto none = choose(ContainerRuntime::automatic, ImageKind::file, {});
  REQUIRE_FALSE(none);
  CHECK(none.error().message ==
        "no container runtime is installed that can run a SIF file: no apptainer, no singularity");
  const auto unfit =
      choose(ContainerRuntime::docker, ImageKind::folder, {ContainerRuntime::docker});
  REQUIRE_FALSE(unfit);
  CHECK(unfit.error().message == "docker cannot run a folder");
  const auto mount = choose(ContainerRuntime::charliecloud,
                            ImageKind::folder,
                            {ContainerRuntime::charliecloud},
                            {{"/a", "/b", true}});
  REQUIRE_FALSE(mount);
  CHECK(mount.error().message == "charliecloud cannot mount /a read-only");
}

TEST_CASE("each runtime has no value on its command line, and the program at its end") {
  for (const ContainerRuntime runtime : spec::container_runtimes()) {
    const ContainerType& type = type_of(runtime);
    for (const ImageKind kind : type.images) {
      CAPTURE(spec::to_string(runtime));
      CAPTURE(to_words(kind));
      ContainerOrder order = an_order({kind, "/images/a"});
      order.gpus = GpuVendor::nvidia;
      const ContainerCommand command = type.command(order);
      const std::string line = join(command.argv, " ");
      CHECK(line.find("hunter2") == std::string::npos);
      CHECK(command.argv.back() == "train.py");
      CHECK(command.argv.front() == type.program);
      CHECK(line.find("/home/u/run") != std::string::npos);
    }
  }
}

TEST_CASE("options that only srun supports are refused with the reason") {
  for (const ContainerRuntime asked : {ContainerRuntime::edf, ContainerRuntime::automatic}) {
    const auto definition = choose(asked, ImageKind::edf, {ContainerRuntime::edf});
    REQUIRE_FALSE(definition);
    CHECK(definition.error().code == Errc::invalid);
    CHECK(definition.error().hint.find("only srun reads") == 0);
  }
  const auto reference = choose(ContainerRuntime::pyxis, ImageKind::reference, {});
  REQUIRE_FALSE(reference);
  CHECK(reference.error().hint.find("enroot import") != std::string::npos);
}

TEST_CASE("enroot changes to the working directory with a script that quotes it") {
  ContainerOrder order = an_order({ImageKind::squashfs, "/images/a.sqsh"});
  order.folder = "/home/u/it's";
  CHECK(k_pyxis_runtime.command(order).file_text == "cd '/home/u/it'\\''s' && exec \"$@\"\n");
}

TEST_CASE("variables of launchers and of communication are inherited, others are not") {
  CHECK(is_inherited_inside("PMIX_RANK"));
  CHECK(is_inherited_inside("NCCL_DEBUG"));
  CHECK_FALSE(is_inherited_inside("PATH"));
  CHECK_FALSE(is_inherited_inside("AWS_SECRET_ACCESS_KEY"));
}

}  // namespace dts::launch
