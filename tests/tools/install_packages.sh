#!/usr/bin/env bash
# Installs what building and testing need on Debian 12, if anything is missing. As root, or with sudo.
# Idempotent: with everything there it only asks dpkg, which takes milliseconds.
set -euo pipefail

packages=(
  build-essential cmake ninja-build pkg-config git ca-certificates
  slurmctld slurmd slurm-client libslurm-dev
  openmpi-bin libopenmpi-dev libhwloc-dev
  libdnnl-dev ocl-icd-opencl-dev  # dnnl's CMake file looks for OpenCL and only recommends it
  nlohmann-json3-dev libtomlplusplus-dev libcli11-dev libfmt-dev libexpected-dev doctest-dev
  libxxhash-dev zlib1g-dev
  dataset-fashion-mnist
  procps iproute2 util-linux python3 ccache
)
# Only the tests need these; the quickstart does not.
if [ "${1:-}" = --with-tests ]; then
  packages+=(clang lld clang-format clang-tidy libclang-rt-dev libomp-dev python3-torch groff-base mandoc
    mpich libmpich-dev  # below Open MPI among the alternatives: mpicc and mpirun stay
    openssh-server openssh-client charliecloud-runtime busybox-static python3-jsonschema
    munge slurmdbd mariadb-server-core mariadb-client-core)  # the server alone: mariadb-server would start one
fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ "${#missing[@]}" -eq 0 ] && exit 0

echo "installing: ${missing[*]}" >&2
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "error: not root and no sudo; as root run: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
# No daemon of a package is to start here: the private cluster brings its own. 101 is "forbidden by policy"
# (/usr/share/doc/init-system-helpers/README.policy-rc.d.gz).
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod 755 "$policy"
  # shellcheck disable=SC2064  # as they are now
  trap "${as_root[*]} rm -f $policy" EXIT
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -q >/dev/null
"${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}" >/dev/null
