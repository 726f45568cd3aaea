#!/usr/bin/env bash
# tarball.sh [TARBALL]: unpacks it, or one that it makes first, in a root file system of an old Debian (DTS_TARBALL_RELEASE, bullseye) that
# has Slurm's commands but nothing of what a build needs, and submits from there to a private cluster of this machine's Slurm, outside
# of it. As root, with debootstrap and slurmctld. Slurm's commands may be two releases older than the controller, as bullseye's 20.11
# and bookworm's 22.05.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
in_root=$here/../releases/in_root.sh
release=${DTS_TARBALL_RELEASE:-bullseye}
[ "$(id -u)" -eq 0 ] || { echo "skipped: only root can change a process's root"; exit 77; }
for program in debootstrap slurmctld mpirun; do
  command -v "$program" >/dev/null || { echo "skipped: no $program on this machine"; exit 77; }
done
if [ "$#" -gt 0 ]; then
  tarball=$(realpath "$1")
else
  made=$(mktemp -d)
  "$here/../tools/make_tarball.sh" "$made"
  tarball=$(echo "$made"/dtsubmit-*.tar.gz)
fi
root=$("$here/../releases/bare_root.sh" "$release" "$release-client" slurm-client)

# The shared file system: one path, inside and outside.
shared=/tmp/dtsubmit-tarball-$$
mkdir -p "$root$shared"
ln -s "$root$shared" "$shared"
name=$(basename "$tarball" .tar.gz)
dtsubmit=$shared/$name/bin/dtsubmit
unset SLURM_CONF
export XDG_STATE_HOME=$shared/state OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
clean_up() {
  "$dtsubmit" cluster down --name "tarball-$$" >/dev/null 2>&1 || true
  rm -rf "$shared" "${made:-}"
  rm -rf "${root:?}$shared"
}
trap clean_up EXIT

"$in_root" "$root" tar -C "$shared" -xzf - <"$tarball"
inside() { "$in_root" "$root" env "XDG_STATE_HOME=$XDG_STATE_HOME" "HOME=$shared" ${SLURM_CONF:+"SLURM_CONF=$SLURM_CONF"} "$@"; }
inside sh -c '. /etc/os-release; echo "inside: $PRETTY_NAME, $(ldd --version | head -n 1), slurm-client $(dpkg-query -W -f "\${Version}" slurm-client)"'
if inside sh -c 'ls /usr/bin/g++ /usr/bin/cmake /usr/bin/mpirun /usr/include/slurm /usr/include/hwloc.h /usr/include/fmt' 2>/dev/null; then
  echo "FAILED: that is no clean root"
  exit 1
fi
for file in "$dtsubmit" "$shared/$name"/lib/dtsubmit/*; do
  if inside ldd "$file" | grep 'not found'; then
    echo "FAILED: $file lacks libraries"
    exit 1
  fi
done
inside "$dtsubmit" topo | head -n 1

eval "$("$dtsubmit" cluster up --with-process $$ --name "tarball-$$" --nodes 2 --gpus-per-node 4 --grace 20)"
cp "$SLURM_CONF" "$root$shared/slurm.conf"
SLURM_CONF=$shared/slurm.conf
echo "outside: $(sinfo --version)"
inside "$dtsubmit" --version
# shellcheck disable=SC2016  # the ranks' variables
inside sh -c "cd $shared && $dtsubmit submit --wait --nodes 2 --gpus-per-node 4 -- sh -c 'echo rank \$RANK of \$WORLD_SIZE'"
inside sh -c "cd $shared && $dtsubmit status last" | head -n 2
lines=$(inside sh -c "cd $shared && $dtsubmit logs --rank all last" | grep -c 'rank [0-7] of 8')
[ "$lines" -eq 8 ] || { echo "FAILED: $lines of 8 ranks wrote"; exit 1; }
echo "ok: submitted, followed and completed: 8 ranks"

cat >"$root$shared/train.sh" <<'PROGRAM'
trap 'echo saved >"$DTSUBMIT_CHECKPOINT_DIR/rank-$RANK"; exit 85' TERM
[ -e "$DTSUBMIT_CHECKPOINT_DIR/rank-$RANK" ] && exit 0
: >"$DTSUBMIT_RUN_DIR/started-$RANK"
while :; do sleep 0.2; done
PROGRAM
inside sh -c "cd $shared && $dtsubmit submit --partition low --nodes 2 --gpus-per-node 4 -- sh $shared/train.sh"
for _ in $(seq 150); do
  started=$(find "$root$shared/runs" -name 'started-*' | wc -l)
  [ "$started" -eq 8 ] && break
  sleep 0.4
done
inside sbatch --partition high --nodes 2 --output /dev/null --wrap 'sleep 2'
for _ in $(seq 150); do
  inside sh -c "cd $shared && $dtsubmit status last" >"$shared/status" || true
  grep -q '^job .*completed' "$shared/status" && break
  sleep 1
done
cat "$shared/status"
grep -q 'preempted *requeue' "$shared/status" && grep -q '^job .*completed' "$shared/status" ||
  { echo "FAILED: the job was not preempted and completed"; exit 1; }
echo "ok: preempted, requeued and completed"

if [ ! -e /usr/include/slurm/slurm.h ]; then
  echo "skipped: the plug-in is not built: this machine has no slurm/slurm.h"
  exit 0
fi
"$shared/$name/bin/dtsubmit-build-slurm-plugin"
version=$("$dtsubmit" --version)
grep -q 'through libslurm' <<<"$version" || { echo "FAILED: the plug-in that was built is not used: $version"; exit 1; }
(cd "$shared" && "$dtsubmit" submit --wait --nodes 2 --gpus-per-node 4 -- true)
echo "ok: plug-in for libslurm built and used"
