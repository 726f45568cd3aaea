// SPDX-License-Identifier: Apache-2.0
#include "core/base/text/text.hpp"
#include "core/plan/program/known_launchers.hpp"

#include <algorithm>
#include <iterator>

namespace dts::plan {
namespace {

// Singularity and Apptainer are one program under two names.
constexpr std::string_view k_container =
    "-B --bind --env --env-file --pwd --cwd -H --home -W --workdir --mount -o --overlay -S"
    " --scratch --network --network-args --app --dns --hostname --fusemount --security"
    " --add-caps --drop-caps --apply-cgroups --cpus --cpuset-cpus --memory --pem-path --shm-size";

// docker-run(1) and podman-run(1); Podman has Docker's options and more.
constexpr std::string_view k_docker =
    "-a --attach --add-host --annotation --blkio-weight --cap-add --cap-drop --cgroup-parent"
    " --cgroupns --cidfile --cpu-period --cpu-quota --cpu-shares -c --cpus --cpuset-cpus"
    " --cpuset-mems --device --device-cgroup-rule --dns --dns-option --dns-search --domainname"
    " --entrypoint -e --env --env-file --expose --gpus --group-add -h --hostname --ip --ipc -l"
    " --label --label-file --link --log-driver --log-opt --mac-address -m --memory --memory-swap"
    " --mount --name --network --net --network-alias --pid --pids-limit --platform -p --publish"
    " --pull --restart --runtime --security-opt --shm-size --stop-signal --stop-timeout"
    " --storage-opt --sysctl --tmpfs --ulimit -u --user --userns --uts -v --volume"
    " --volume-driver --volumes-from -w --workdir --arch --authfile --decryption-key --gidmap"
    " --hooks-dir --passwd-entry --pod --secret --subgidname --subuidname --systemd --timezone"
    " --tz --uidmap --umask --variant";

constexpr std::string_view k_uv =
    "-p --from --python --with --with-requirements --with-editable --project --directory --extra"
    " --no-extra --group --only-group --no-group --env-file --package --index --default-index"
    " --index-url --extra-index-url --find-links --cache-dir --config-file --index-strategy"
    " --resolution --prerelease --link-mode --python-platform";

// Those of `gdb --args PROGRAM ...`.
constexpr std::string_view k_gdb =
    "-ex --ex -iex -x -ix -command --command -eval-command --eval-command -d -cd --cd";

constexpr std::string_view k_perf =
    "-e --event -o --output -F --freq -c --count --call-graph -C --cpu -m --mmap-pages -r"
    " --repeat -x --field-separator -I --interval-print -M --metrics -D --delay";

const KnownWrapper k_wrappers[] = {
    {.program = "env", .with_value = "-u --unset -C --chdir", .folder_options = "-C --chdir"},
    {"exec", "", "-a"},
    {"command"},
    {"time", "", "-f -o --format --output"},
    {"nice", "", "-n --adjustment"},
    {"ionice", "", "-c -n --class --classdata"},
    {"nohup"},
    {"setsid"},
    {"stdbuf", "", "-i -o -e --input --output --error"},
    {"timeout", "", "-k -s --kill-after --signal", 1},
    {"numactl",
     "",
     "-N -m -C -i -p --cpunodebind --membind --physcpubind --interleave --preferred"},
    {"taskset", "", "", 1},
    {"chrt", "", "", 1},
    {"prlimit"},
    {"xvfb-run",
     "",
     "-n -s -e -f -p -w --server-num --server-args --error-file --auth-file --xauth-protocol"
     " --wait"},
    {.program = "sudo",
     .with_value = "-u --user -g --group -D --chdir -p --prompt",
     .folder_options = "-D --chdir"},
    {"strace", "", "-a -b -e -E -I -o -O -p -P -s -S -u -U -X"},
    {"ltrace", "", "-a -A -D -e -F -l -n -o -p -s -u -w -x"},
    {"gdb", "", k_gdb},
    {"cuda-gdb", "", k_gdb},
    {"valgrind"},
    {"perf", "stat", k_perf},
    {"perf", "record", k_perf},
    {"catchsegv"},
    {"unbuffer"},
    {"flock", "", "-w -E --timeout --conflict-exit-code", 1},
    {"tini", "", "-p"},
    {"dumb-init", "", "-r --rewrite"},
    {.program = "uv", .verb = "run", .with_value = k_uv, .folder_options = "--directory"},
    {"uvx", "", k_uv},
    {.program = "poetry",
     .verb = "run",
     .with_value = "-C --directory -P --project",
     .folder_options = "-C --directory"},
    {"pipenv", "run"},
    {"pdm", "run", "-p --project"},
    {"hatch", "run", "-e --env"},
    {"rye", "run"},
    {"pixi", "run", "-e --environment --manifest-path"},
    {.program = "conda",
     .verb = "run",
     .with_value = "-n --name -p --prefix --cwd",
     .folder_options = "--cwd"},
    {.program = "mamba",
     .verb = "run",
     .with_value = "-n --name -p --prefix --cwd -r --root-prefix",
     .folder_options = "--cwd"},
    {.program = "micromamba",
     .verb = "run",
     .with_value = "-n --name -p --prefix --cwd -r --root-prefix -e --env",
     .folder_options = "--cwd"},
    {"singularity", "exec", k_container, 1, false, true},
    {"apptainer", "exec", k_container, 1, false, true},
    {"singularity", "run", k_container, 1, false, true},
    {"apptainer", "run", k_container, 1, false, true},
    {.program = "singularity_wrapper",
     .verb = "exec",
     .is_container = true},  // at CSC; the image is in a variable
    {"docker", "run", k_docker, 1, true, true},
    {"podman", "run", k_docker, 1, true, true},
    {"podman-hpc", "run", k_docker, 1, true, true},
    {"ch-run", "", "-b --bind -c --cd --set-env -d --home", 1, false, true},
    {"enroot", "start", "-m --mount -e --env -c --conf", 1, false, true},
    {"shifter", "", "--image -i --volume -V --module --workdir", 0, false, true},
    {"nsys",
     "profile",
     "-o --output -t --trace -s --sample -c --capture-range -y --delay -d --duration -x"
     " --stop-on-exit -w --show-output --stats -f --force-overwrite -n -e --env-var -p -b"
     " --backtrace --capture-range-end --cpuctxsw --cudabacktrace --cuda-memory-usage"
     " --gpu-metrics-device --gpu-metrics-devices --nic-metrics --python-sampling --session-new"
     " --kill --wait"},
    {"ncu",
     "",
     "-o --export -k --kernel-name -s --launch-skip -c --launch-count --set --section --metrics"
     " --target-processes --kernel-id --replay-mode --nvtx-include --nvtx-exclude"
     " --clock-control --devices --log-file"},
    {"rocprof", "", "-i -o -d"},
    {"scalene", "", "--outfile"},
    {"py-spy", "record", "-o --output -f --format -r --rate -d --duration"},
};

}  // namespace

std::span<const KnownWrapper> known_wrappers() {
  return k_wrappers;
}

bool is_container_runtime(std::string_view name) {
  constexpr std::string_view k_others[]{"bwrap", "nerdctl"};  // their options are not known
  return is_one_of(k_others, name) ||
         std::any_of(std::begin(k_wrappers), std::end(k_wrappers), [&](const KnownWrapper& known) {
           return known.is_container && known.program == name;
         });
}

}  // namespace dts::plan
