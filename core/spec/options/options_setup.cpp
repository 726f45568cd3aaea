// SPDX-License-Identifier: Apache-2.0
// Options: what is set up on each node before ranks start there, and torn down afterwards.
#include "core/base/os/limits.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/utf8.hpp"
#include "core/spec/stage.hpp"
#include "core/spec/values/json_values.hpp"
#include "core/spec/values/values.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace dts::spec {
namespace {

using Texts = std::vector<std::string>;

constexpr const char* k_lines = R"(["./prepare.sh", "ulimit -c 0"])";
constexpr std::size_t k_longest_setup = std::size_t{16} << 10;
constexpr std::size_t k_longest_setups = std::size_t{64} << 10;  // an argument of a shell

bool is_shell_text(const std::string& text) {
  return is_utf8(text) && std::none_of(text.begin(), text.end(), [](unsigned char c) {
           return (c < ' ' && c != '\n' && c != '\t') || c == 0x7f;
         });
}

void check_shell_text(const std::string& text, const std::string& option, Diagnostics& problems) {
  if (text.empty()) problems.push_back({option, "is empty", "omit it"});
  if (!is_shell_text(text))
    problems.push_back({option, "contains a byte that is not part of a UTF-8 text"});
  if (text.size() > k_longest_setup)
    problems.push_back({option,
                        fmt::format("is {} bytes long, at most {}", text.size(), k_longest_setup),
                        "write it to a file and name that"});
}

// Texts that are passed to a shell.
Value shell_texts(Texts JobSpec::*member, const char* type, const char* example) {
  Value value = texts(member, type, example);
  value.check = [member](const JobSpec& spec, const std::string& option, Diagnostics& problems) {
    std::size_t bytes = 0;
    for (const std::string& one : spec.*member) {
      check_shell_text(one, option, problems);
      bytes += one.size();
    }
    if (bytes > k_longest_setups)
      problems.push_back(
          {option,
           fmt::format("all together are {} bytes long, at most {}", bytes, k_longest_setups),
           "write them to a file and name that"});
  };
  return value;
}

Value list_of_modules() {
  Value value = shell_texts(&JobSpec::modules, "NAME,...", R"(["cuda/12.4"])");
  value.parse = [](const std::string& typed, JobSpec& spec) -> Result<void> {
    for (std::string& name : split(typed, ',')) spec.modules.push_back(std::move(name));
    return {};
  };
  return value;
}

Value list_of_limits() {
  Value value = texts(&JobSpec::ulimits, "NAME=VALUE", R"(["nofile=65536"])");
  value.check = [](const JobSpec& spec, const std::string& option, Diagnostics& problems) {
    for (const std::string& one : spec.ulimits)
      if (const auto limit = parse_resource_limit(one); !limit)
        problems.push_back({option, limit.error().message, limit.error().hint});
  };
  return value;
}

Value list_of_stage_items() {
  Value value = texts(&JobSpec::stage, "SRC[:DST]", R"(["/data/set:set"])");
  value.check = [](const JobSpec& spec, const std::string& option, Diagnostics& problems) {
    check_stage_items(spec.stage, option, problems);
  };
  return value;
}

Value file_mode_mask() {
  Value value = text(&JobSpec::umask, "MODE");
  value.check = [](const JobSpec& spec, const std::string& option, Diagnostics& problems) {
    if (!spec.umask.empty() && !parse_umask(spec.umask))
      problems.push_back(
          {option, fmt::format("`{}` is not an octal mode", spec.umask), "for example 027"});
  };
  return value;
}

}  // namespace

std::vector<Option> setup_options() {
  return {
      {.names = "-D,--chdir",
       .value = text(&JobSpec::chdir, "DIR"),
       .help = "working folder of the job [the current one]",
       .is_rare = true},
      {.names = "--stage",
       .value = list_of_stage_items(),
       .help = "file, folder or archive that is copied to each node's own disk before the start",
       .manual =
           R"(File or folder that is copied to each node's disk before programs start there, below the folder that
.B DTSUBMIT_STAGE_DIR
names; can be repeated.
DST is its name there, the source's own name without it; the last colon separates the two.
A DST that ends in a slash is a folder for the copy, and a tar archive is unpacked there:
.BR "\-\-stage data.tar.zst:images/" .
See STAGING in
.BR dtsubmit\-environment (7).
)",
       .is_rare = true},
      {.names = "--module",
       .value = list_of_modules(),
       .help = "environment modules that are loaded on each node",
       .manual =
           R"(Environment modules that are loaded on each node before ranks start there, in this order; can be repeated.
See SET\-UP in
.BR dtsubmit\-environment (7),
also for the options that follow.
)",
       .key = "modules",
       .is_rare = true},
      {.names = "--conda",
       .value = text(&JobSpec::conda, "ENV"),
       .help = "conda environment that is activated on each node",
       .manual =
           R"(Environment of conda, mamba or micromamba, by name or folder, that is activated on each node.
)",
       .is_rare = true},
      {.names = "--venv",
       .value = text(&JobSpec::venv, "FOLDER"),
       .help = "Python virtual environment that is activated on each node",
       .manual = R"(Virtual environment of Python that is activated on each node.
)",
       .is_rare = true},
      {.names = "--setup",
       .value = shell_texts(&JobSpec::setup, "FILE|LINE", k_lines),
       .help = "bash script or line that is run once on each node before any rank starts",
       .manual =
           R"(File that bash reads, or a line that it runs, once on each node before any rank starts; can be repeated.
Changes to the environment are kept for all ranks of the node.
If a command of it fails, no rank starts, and the run ends with the node, the command and its output.
)",
       .is_rare = true},
      {.names = "--teardown",
       .value = shell_texts(&JobSpec::teardown, "FILE|LINE", k_lines),
       .help = "bash script or line that is run once on each node after its programs have ended",
       .manual =
           R"(The same, after the programs of all ranks have ended in any way; all tear\-downs together may take 30 seconds.
)",
       .is_rare = true},
      {.names = "--ulimit",
       .value = list_of_limits(),
       .help = "limit of each program's resources, e.g. nofile=65536, stack=unlimited",
       .manual = R"(Limit of each program's resources, as setrlimit(2) names them in lower case:
.BR nofile ", " memlock ", " stack ", " nproc ", " core
and others; can be repeated.
The value is a number (of bytes, for sizes; K, M, G and T are powers of 1024) or
.BR unlimited ,
and SOFT:HARD sets the hard limit, too.
In a container they apply to the program inside.
Docker and Podman get them as their own
.BR \-\-ulimit ,
with which one value sets the hard limit, too.
)",
       .key = "ulimits",
       .is_rare = true},
      {.names = "--umask",
       .value = file_mode_mask(),
       .help = "umask of each program, e.g. 027",
       .manual = R"(Mask of the modes of new files of each program, octal.
It also applies inside a container.
For this with Docker, and for
.B \-\-ulimit as=
with Docker and Podman, the image needs a shell,
.BR sh .
)",
       .is_rare = true},
  };
}

}  // namespace dts::spec
