#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The services of a private cluster, munged, MariaDB and slurmdbd: up, after a crash, down; as the calling user, and as root
# as a plain user, too.
source "$(dirname "$0")/cluster_lib.bash"
for program in munged mariadbd slurmdbd; do
  PATH=$PATH:/usr/sbin command -v "$program" >/dev/null && continue
  echo "SKIPPED: no $program here (Debian 12: apt install --no-install-recommends munge slurmdbd mariadb-server-core mariadb-client-core)"
  exit 125
done
shape=(--nodes 1 --auth munge --accounting)

# wait_for needs a command.
accounted() { [[ $(sacct -n -X -P -o State -j "$1") == "$2" ]]; }
is_down() { [[ $("$DTSUBMIT" cluster status --name one) == *"is incomplete"* ]]; }

test_case "up with munge and accounting: programs find both by SLURM_CONF alone"
started=$(date +%s%N)
# MariaDB's default folder for temporary tables, where a server that starts removes those of all others.
table="/tmp/#sql-temptable-$$-1-1.MAI"
touch "$table"
select_cluster --name one "${shape[@]}"
rm "$table" || fail "the temporary tables of other databases are removed"
echo "up took $((($(date +%s%N) - started) / 1000000)) ms"
[[ $("$DTSUBMIT" cluster status --name one) == "cluster one is up, proctrack linuxproc, auth munge, accounting,"* ]] ||
  fail "$("$DTSUBMIT" cluster status --name one)"
[[ $("$DTSUBMIT" cluster status --name one --json) == *'"auth": "munge"'*'"accounting": true'* ]] || fail "the JSON lacks them"
[[ $(sacctmgr -n -P show user "$(id -un)" format=User,DefaultAccount) == "$(id -un)|default" ]] ||
  fail "accounts: $(sacctmgr -n -P show user)"
job=$(sbatch --parsable -o /dev/null --wrap "exit 3")
wait_for 60 accounted "$job" FAILED || fail "sacct: $(sacct -j "$job")"

test_case "nobody else can read the keys, the database or the way to it"
for file in munge.key slurmdbd.conf; do
  [[ $(stat -c %a "$clusters/one/$file") == 600 ]] || fail "$file is $(stat -c %a "$clusters/one/$file")"
done
[[ $(stat -c %a "$clusters/one") == 700 ]] || fail "the folder is open to others"
port=$(sed -n 's/^AccountingStoragePort=//p' "$SLURM_CONF")
if "$DTSUBMIT" cluster status --name one --json | grep -q '"host_names": true'; then
  printf -v hex ':%04X' "$port"
  # proc(5), /proc/net/tcp: local address as little-endian hexadecimal; state 0A is LISTEN.
  listening=$(awk -v port="$hex$" '$2 ~ port && $4 == "0A" {print $2}' /proc/net/tcp)
  [[ $listening =~ ^[0-9A-F]{6}7F: ]] || fail "slurmdbd's port $port listens on $listening"
fi

test_case "another kind of authentication is another shape"
message=$("$DTSUBMIT" cluster up --name one --nodes 1 --accounting 2>&1) && fail "auth/none was accepted"
[[ $message == *"different shape"* ]] || fail "message: $message"

test_case "a cluster without its database is incomplete, and up starts it anew"
for victim in mariadbd munged slurmdbd; do
  pid=$(processes_of "$clusters/one" | while read -r pid; do [[ $(<"/proc/$pid/comm") == "$victim" ]] && echo "$pid"; done)
  kill -9 "$pid" || fail "there is no $victim"
  wait_for 10 is_down || fail "without $victim: $("$DTSUBMIT" cluster status --name one)"
done
select_cluster --name one "${shape[@]}"
srun -n1 true || fail "no job after the second up"

test_case "down ends all of them"
"$DTSUBMIT" cluster down --name one || fail "down"
[[ -z $(processes_of "$clusters/one") ]] || fail "left: $(processes_of "$clusters/one" | xargs ps -o pid,args -p)"
[[ ! -e $clusters/one ]] || fail "the folder is still there"

test_case "what is missing is named with its package"
mkdir "$scratch/bin"
for program in slurmctld slurmd sinfo squeue; do cp "$(PATH=$PATH:/usr/sbin command -v $program)" "$scratch/bin"; done
if [[ $(id -u) == 0 ]] && unshare --mount true 2>/dev/null; then
  message=$(unshare --mount bash -c 'mount -t tmpfs none /usr/sbin && PATH='"$scratch/bin"' "$0" cluster up --name two --auth munge --accounting' "$DTSUBMIT" 2>&1) &&
    fail "up without munged and slurmdbd"
  [[ $message == *"not installed: munged, slurmdbd, sacctmgr, mariadbd"*" munge slurmdbd slurm-client mariadb-server-core"* ]] ||
    fail "message: $message"
fi

if [[ $(id -u) == 0 ]]; then
  test_case "the same as a plain user"
  home=$scratch/plain
  chmod 711 "$scratch"
  mkdir "$home"
  install -m 755 "$DTSUBMIT" "$home/dtsubmit"
  install -m 644 "$(dirname "$0")"/cluster_*.bash "$home"
  chown -R 65534:65534 "$home"
  (cd "$home" && setpriv --reuid=65534 --regid=65534 --clear-groups env -i PATH=/usr/bin:/bin HOME="$home" TMPDIR="$home" \
    DTSUBMIT="$home/dtsubmit" bash "$home/cluster_services.bash") || fail "as a plain user"
fi
