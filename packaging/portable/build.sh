#!/usr/bin/env bash
# What make_tarball.sh does within the root file system: /source becomes /out/dtsubmit-VERSION-linux-MACHINE.tar.gz. $1: the newest release
# of glibc that the programs may need.
set -euo pipefail
newest=$1
headers=/opt/headers
export DEBIAN_FRONTEND=noninteractive
apt-get update -q >/dev/null
apt-get install -y -q --no-install-recommends build-essential cmake ninja-build >/dev/null 2>&1
if [ ! -e "$headers/ready" ]; then
  mkdir -p "$headers"
  cd "$headers"
  for package in nlohmann-json3-dev libcli11-dev libfmt-dev libexpected-dev libtomlplusplus-dev libxxhash-dev; do
    apt-get download -q "$package/bookworm" >/dev/null 2>&1
  done
  for file in *.deb; do dpkg-deb -x "$file" .; done
  # fmt is compiled in; its CMake file wants to see the library, too.
  touch usr/lib/"$(gcc -print-multiarch)"/libfmt.so.9.1.0 ready
fi

cmake -S /source -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DCMAKE_PREFIX_PATH="$headers/usr" -DDTSUBMIT_PORTABLE=ON \
  -DBUILD_TESTING=OFF -DDTSUBMIT_TRAINER=OFF -DDTSUBMIT_TOPOLOGY=OFF -DDTSUBMIT_SLURM=OFF -DDTSUBMIT_MAN=ON
CPLUS_INCLUDE_PATH=$headers/usr/include cmake --build /build -j "$(nproc)"

version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' /build/CMakeCache.txt)
name=dtsubmit-$version-linux-$(uname -m)
rm -rf /out
folder=/out/$name
cmake --install /build --prefix "$folder" --strip >/dev/null
cp /source/LICENSE /source/INSTALL.md /source/CHANGELOG.md "$folder/"
install -m 755 /source/packaging/portable/dtsubmit-build-slurm-plugin "$folder/bin/"
install -D -m 644 /source/packaging/modulefiles/dtsubmit.lua "$folder/share/modulefiles/dtsubmit.lua"
install -D -m 644 /source/packaging/modulefiles/dtsubmit "$folder/share/modulefiles/dtsubmit"

# The libslurm plug-in's sources with the headers that they need.
plugin=$folder/share/dtsubmit/plugin-source
mkdir -p "$plugin/include"
(cd /source && find plugins/slurm plugins/slurm_shared core/base core/plugin/dtsubmit_plugin.h -name '*.[ch]*' -print0 |
  tar --null -T - -cf -) | tar -C "$plugin" -xf -
cp -r "$headers"/usr/include/{fmt,nlohmann,tl,xxhash.h} "$plugin/include/"

# What the programs need of the machine.
failed=0
for file in "$folder/bin/dtsubmit" "$folder"/lib/dtsubmit/*; do
  needs=$(objdump -T "$file" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -V | tail -n 1)
  libraries=$(objdump -p "$file" | awk '$1 == "NEEDED" { print $2 }' | tr '\n' ' ')
  echo "$(basename "$file"): glibc $needs; $libraries"
  if [ "$(printf '%s\n' "$needs" "$newest" | sort -V | tail -n 1)" != "$newest" ]; then
    objdump -T "$file" | grep "GLIBC_$needs"
    failed=1
  fi
  case " $libraries" in
    *libstdc++* | *libslurm* | *libhwloc*) failed=1 ;;
  esac
done
[ "$failed" -eq 0 ] || { echo "error: the programs need more than glibc $newest and its libraries" >&2; exit 1; }
tar -C /out --owner=root --group=root -czf "/out/$name.tar.gz" "$name"
