#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bundle.sh BUILD FOLDER: of what was built in BUILD, what run.sh needs, and all that this needs but glibc and CUDA: libraries, and mpirun of
# Open MPI 4 with its components. FOLDER, which must not exist, is then a BUILD for run.sh on any x86-64 machine whose glibc is as new as this
# one's, though it has no MPI, oneDNN or hwloc. To start a program by hand: `cd FOLDER && . ./environment.sh`. Fails if FOLDER takes more than
# 64 MiB (GPU_BUNDLE_MIB).
set -eu
[ $# -eq 2 ] || { echo "usage: bundle.sh BUILD FOLDER" >&2; exit 2; }
build=$1 folder=$2
most=${GPU_BUNDLE_MIB:-64}
fail() { echo "bundle.sh: $1" >&2; exit 1; }
[ ! -e "$folder" ] || fail "$folder exists"
mkdir -p "$folder/bin" "$folder/lib/common"

# Needs of programs and libraries, one path a line: not the kernel's and glibc's, which belong together, nor what a driver or CUDA brings.
needs() {
  ldd "$@" | awk '/=> not found/ { print $1 " is missing" >"/dev/stderr"; exit 1 } $2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -Ev '/(ld-linux.*|lib(c|m|dl|rt|pthread|util|resolv|nsl|anl|mvec))\.so|/lib(cu|nv|nccl)[^/]*\.so'
}

place() { # FROM... FOLDER, stripped; libraries under the names by which they are looked for
  for to; do :; done
  mkdir -p "$to"
  while [ $# -gt 1 ]; do
    cp -L "$1" "$to/"
    chmod u+w "$to/${1##*/}"
    strip --strip-unneeded "$to/${1##*/}"
    shift
  done
}

place "$build/bin/dttrain" "$build/bin/device_check" "$build/bin/device_profile" "$folder/bin"
# The module for a card, and the stand-in of GPU_CHECKS_HOST=1.
for module in lib/dtsubmit/dttrain-cuda.so tests/host_device/dttrain-cuda.so; do
  [ ! -e "$build/$module" ] || place "$build/$module" "$folder/${module%/*}"
done
[ -n "$(find "$folder" -name dttrain-cuda.so)" ] || fail "$build has no dttrain-cuda.so"

mpi_folder() { ompi_info --path "$1" --parsable | sed -n "s/^path:$1://p"; }
ldd "$build/bin/dttrain" | grep -q 'libmpi\.so\.40 ' || fail "$build/bin/dttrain is not linked with Open MPI 4"
[ -d "$(mpi_folder pkglibdir)" ] || fail "no ompi_info of Open MPI 4"
place "$(mpi_folder bindir)/mpirun" "$(mpi_folder bindir)/orted" "$folder/bin"
# Of one machine: a fabric's libraries would be found by NCCL, too, and OpenSHMEM is not used.
set --
for component in "$(mpi_folder pkglibdir)"/*.so; do
  case ${component##*/} in
    *_ofi.so | *_ucx.so | *_psm.so | *_psm2.so | *_openib.so | mca_*flux.so) ;;
    mca_atomic_* | mca_memheap_* | mca_scoll_* | mca_spml_* | mca_sshmem_*) ;;
    *) set -- "$@" "$component" ;;
  esac
done
place "$@" "$folder/lib/openmpi"
mkdir -p "$folder/etc"
cp -RL "$(mpi_folder pkgdatadir)" "$folder/share-openmpi"
cp -L "$(mpi_folder sysconfdir)/openmpi-mca-params.conf" "$folder/etc/"
# Where PMIx is a library of its own, it has components, too.
pmix=$(needs "$@" | grep '/libpmix\.so' || true)
if [ -n "$pmix" ]; then
  pmix=$(dirname "$(readlink -f "$pmix")")
  place "$pmix"/pmix/*.so "$folder/lib/pmix"
  [ ! -d "$pmix/../share/pmix" ] || cp -RL "$pmix/../share/pmix" "$folder/share-pmix"
  set -- "$@" "$pmix"/pmix/*.so
fi

needed=$(needs "$folder"/bin/* "$@") || fail "not all that they need is here"
for library in $needed; do
  case ${library##*/} in
    # What most machines have, and the newer one suits all.
    libstdc++.so* | libgcc_s.so* | libgomp.so* | libz.so* | libudev.so* | libcap.so*) place "$library" "$folder/lib/common" ;;
    *) place "$library" "$folder/lib" ;;
  esac
done

cat >"$folder/environment.sh" <<'END'
# Where the programs of GPU_BUNDLE, or of the current folder, find what they need.
GPU_BUNDLE=$(cd "${GPU_BUNDLE:-.}" && pwd)
export PATH="$GPU_BUNDLE/bin:$PATH"
export LD_LIBRARY_PATH="$GPU_BUNDLE/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
# This machine's own libraries of compilers first, since its programs may need newer ones than the bundle's.
"$GPU_BUNDLE/bin/dttrain" --help >/dev/null 2>&1 || export LD_LIBRARY_PATH="$GPU_BUNDLE/lib/common:$LD_LIBRARY_PATH"
export OPAL_PREFIX="$GPU_BUNDLE" OPAL_LIBDIR="$GPU_BUNDLE/lib" OPAL_PKGLIBDIR="$GPU_BUNDLE/lib/openmpi"
export OPAL_PKGDATADIR="$GPU_BUNDLE/share-openmpi" OPAL_SYSCONFDIR="$GPU_BUNDLE/etc"
export PMIX_PREFIX="$GPU_BUNDLE" PMIX_LIBDIR="$GPU_BUNDLE/lib" PMIX_PKGLIBDIR="$GPU_BUNDLE/lib/pmix" PMIX_PKGDATADIR="$GPU_BUNDLE/share-pmix"
# One machine, which may have no ssh: without this mpirun would refuse it.
export OMPI_MCA_plm=isolated
END

size=$(du -sk --apparent-size "$folder" | cut -f1)
[ "$size" -le $((most * 1024)) ] || fail "$folder takes $size KiB, at most $((most * 1024))"
echo "$folder: $size KiB"
