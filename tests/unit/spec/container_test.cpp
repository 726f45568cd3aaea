// SPDX-License-Identifier: Apache-2.0
// The values of --container, --mount and --container-env: their meaning, and what is refused.
#include "core/spec/container.hpp"

#include "core/spec/validate.hpp"

#include <doctest/doctest.h>

#include <string>

namespace dts::spec {

TEST_CASE("a mount is one path, two, or two and ro") {
  CHECK(parse_mount("/data") == ContainerMount{"/data", "/data", false});
  CHECK(parse_mount("/data:/d") == ContainerMount{"/data", "/d", false});
  CHECK(parse_mount("/data:/d:ro") == ContainerMount{"/data", "/d", true});
  CHECK(parse_mount("/data:/d:rw") == ContainerMount{"/data", "/d", false});
  CHECK(to_text(*parse_mount("/data:/d:ro")) == "/data:/d:ro");
}

TEST_CASE("a mount that a runtime would interpret differently is refused") {
  using namespace std::string_literals;
  for (const std::string& text :
       {""s,         ":"s,        "data"s,       "/a:b"s,       "/a:"s,
        ":/a"s,      "/a:/b:/c"s, "/a:/b:ro:"s,  "/a:ro"s,      "/a,/b"s,
        "/a:/b,ro"s, "/a\n:/b"s,  "/a\0b:/c"s,   "/a:/../b"s,   "/a:/"s,
        "/a://"s,    "/a:/proc"s, "/a:/proc/1"s, "/a:/sys/fs"s, "/a:/dev"s,
        "/\xff:/a"s, "~/a:/b"s,   "./a"s,        "/a:/b:RO"s,   "/" + std::string(5000, 'a')}) {
    CAPTURE(text);
    const auto mount = parse_mount(text);
    REQUIRE_FALSE(mount);
    CHECK(mount.error().code == Errc::invalid);
    CHECK(mount.error().message.find('\n') == std::string::npos);
  }
  CHECK(parse_mount("/a:ro").error().hint == "write /a:/a:ro");
}

TEST_CASE("an image is a full path or a name in a registry") {
  using namespace std::string_literals;
  for (const char* good : {"/images/a.sif",
                           "/images/root",
                           "debian:12",
                           "nvcr.io/nvidia/pytorch:24.01-py3",
                           "nvcr.io#nvidia/pytorch:24.01-py3",
                           "docker://localhost:5000/a@sha256:0123",
                           "oras://ghcr.io/a/b:1"}) {
    CAPTURE(good);
    CHECK(check_image(good));
  }
  for (const std::string& bad : {""s,
                                 "a.sif"s,
                                 "./a"s,
                                 "../a"s,
                                 "~/a.sif"s,
                                 "-v"s,
                                 "--rm"s,
                                 "a b"s,
                                 "a\nb"s,
                                 "a\0b"s,
                                 "/a:b.sif"s,
                                 "/a,b.sif"s,
                                 "x.toml"s,
                                 "a,b"s,
                                 ":12"s,
                                 "\xff"s,
                                 "/a\tb"s,
                                 "images/a.sqsh"s}) {
    CAPTURE(bad);
    CHECK_FALSE(check_image(bad));
  }
}

TEST_CASE("a variable has a name, and its value is never repeated in an error") {
  CHECK(parse_container_variable("A") == ContainerVariable{"A"});
  CHECK(parse_container_variable("A=") == ContainerVariable{"A", ""});
  CHECK(parse_container_variable("A=b=c\n") == ContainerVariable{"A", "b=c\n"});
  using namespace std::string_literals;
  for (const std::string& bad : {""s,
                                 "="s,
                                 "1A=hunter2"s,
                                 "A B=hunter2"s,
                                 "A-B=hunter2"s,
                                 "DTSUBMIT_BEAT=hunter2"s,
                                 "A=hunter2\0"s,
                                 "A=hunter2\xff"s}) {
    CAPTURE(bad);
    const auto variable = parse_container_variable(bad);
    REQUIRE_FALSE(variable);
    CHECK((variable.error().message + variable.error().hint).find("hunter2") == std::string::npos);
  }
}

TEST_CASE("container options without a container, and contradictions, are named") {
  JobSpec spec;
  spec.command = {"true"};
  spec.container.mounts = {{"/a", "/b"}};
  spec.container.runtime = ContainerRuntime::podman;
  CHECK(validate(spec).size() == 2);
  spec.container.image = "debian:12";
  CHECK(validate(spec).empty());
  spec.container.runtime = ContainerRuntime::edf;
  CHECK(validate(spec)[0].where == "--container-runtime");
  spec.container.runtime = ContainerRuntime::automatic;
  spec.container.image = "/e/x.toml";
  REQUIRE(validate(spec).size() == 1);
  CHECK(validate(spec)[0].where == "--container");
  spec.container.image = "debian:12";
  spec.container.mounts.push_back({"/c", "/b"});
  REQUIRE(validate(spec).size() == 1);
  CHECK(validate(spec)[0].message == "/b is mounted over twice");
  spec.container.mounts.clear();
  spec.command.clear();
  REQUIRE(validate(spec).size() == 1);
  CHECK(validate(spec)[0].message == "the bundled trainer is not in the image");
}

TEST_CASE("runtimes are recognised by name") {
  for (const ContainerRuntime runtime : container_runtimes())
    CHECK(container_runtime_from(to_string(runtime)) == runtime);
  CHECK(container_runtime_from("auto") == ContainerRuntime::automatic);
  CHECK_FALSE(container_runtime_from("lxc"));
}

}  // namespace dts::spec
