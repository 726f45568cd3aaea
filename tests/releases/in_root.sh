#!/usr/bin/env bash
# in_root.sh ROOT COMMAND...: runs COMMAND as root of that file system, in mount and process namespaces of its own. The file system is
# really the root (pivot_root): in a mere chroot the kernel allows no user namespaces, and private clusters outside show their
# processes. What COMMAND leaves running ends with it, and all of it ends with this script, whatever signal that gets. With
# DTS_NETWORK=own it has a network of its own: clusters outside cannot be taken for one's own. A compiler cache, where there is one, is
# the root's, for all of its users.
set -euo pipefail
root=$(realpath "${1:?"usage: in_root.sh ROOT COMMAND..."}")
shift
export DTS_ROOT=$root
network=()
[ "${DTS_NETWORK:-}" = own ] && network=(--net)
# unshare ignores SIGTERM and SIGINT while it waits, so it is killed, and its child, the first process of the namespace, with it. A shell
# lets what it starts with & ignore SIGINT and SIGQUIT.
env --default-signal=INT,QUIT setpriv --pdeathsig KILL unshare --mount --pid --uts --ipc "${network[@]}" --fork --kill-child -- bash -c '
  set -e
  if [ "${DTS_NETWORK:-}" = own ]; then
    ip link set lo up
    ip link add eth0 type veth peer name eth1
    ip addr add 192.0.2.1/24 dev eth0
    ip link set eth0 up
    ip link set eth1 up
  fi
  mount --make-rprivate /
  mount --bind "$DTS_ROOT" "$DTS_ROOT"
  cd "$DTS_ROOT"
  mkdir -p old
  mount --rbind /sys sys
  mount --rbind /dev dev
  mount -t tmpfs -o mode=1777 shm dev/shm
  mount -t proc proc proc
  mount -t tmpfs -o mode=755 run run
  pivot_root . old
  cd /
  umount -l /old
  exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb \
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 CCACHE_DIR=/var/cache/ccache CCACHE_UMASK=000 "$@"' in_root "$@" <&0 &
inside=$!
trap 'kill -KILL "$inside"' HUP INT TERM
wait "$inside"
