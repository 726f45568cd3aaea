#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The life of private clusters: up, up again, side by side, after a crash, down. Argument: linuxproc or cgroup.
source "$(dirname "$0")/cluster_lib.bash"
flavour=${1:-linuxproc}
if [[ $flavour == cgroup && $(id -u) != 0 ]]; then
  echo "SKIPPED: proctrack/cgroup needs root"
  exit 125
fi
if [[ $flavour == cgroup && ! -e /sys/fs/cgroup/freezer/tasks ]]; then
  echo "SKIPPED: the freezer hierarchy of cgroup v1 is not mounted"
  exit 125
fi
number=$((1000000 + $$))  # seconds that no other sleep of this machine asks for
shape=(--proctrack "$flavour" --grace 1)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

test_case "up gives two idle nodes, and a repeated up prints the same line and starts nothing"
started=$(date +%s%N)
select_cluster --name one "${shape[@]}"
echo "up took $((($(date +%s%N) - started) / 1000000)) ms"
first=$SLURM_CONF
[[ $(sinfo -h -N -p low -o %T | sort | uniq -c | xargs) == "2 idle" ]] || fail "nodes: $(sinfo -N)"
[[ $(stat -c %a "$clusters/one") == 700 ]] || fail "the folder is open to others"
before=$(processes_of "$clusters/one" | sort)
select_cluster --name one "${shape[@]}"
[[ $SLURM_CONF == "$first" ]] || fail "another SLURM_CONF: $SLURM_CONF"
[[ $(processes_of "$clusters/one" | sort) == "$before" ]] || fail "the second up started something"

# Where nodes have no host names of their own, a process that has left its parents and its environment
# cannot be told from a stranger's (see dtsubmit-cluster(1)): there it keeps its environment.
detach="setsid -f env -i"
"$DTSUBMIT" cluster status --name one --json | grep -q '"host_names": true' || detach="setsid -f"

test_case "up with another shape is refused and says how to go on"
message=$("$DTSUBMIT" cluster up --name one "${shape[@]}" --nodes 3 2>&1) && fail "3 nodes were accepted"
[[ $? == 3 && $message == *"down --name one"* ]] || fail "message: $message"

test_case "eval of an up with another shape fails with a message, and the cluster that runs stays selected"
for others in "--nodes 3" "--gpus-per-node 2" "--conf MaxJobCount=77"; do
  SLURM_CONF=$first
  # shellcheck disable=SC2086
  eval "$("$DTSUBMIT" cluster up --name one "${shape[@]}" $others 2>"$scratch/message")" && fail "$others: the eval succeeded"
  [[ $(<"$scratch/message") == *"different shape"*"down --name one"* ]] || fail "$others: message: $(<"$scratch/message")"
  [[ $SLURM_CONF == "$first" && $(export -p) == *"SLURM_CONF="* ]] || fail "$others: SLURM_CONF is ${SLURM_CONF-unset}"
  [[ -n $(sinfo -h) ]] || fail "$others: the cluster cannot be used"
  unset SLURM_CONF
  eval "$("$DTSUBMIT" cluster up --name one "${shape[@]}" $others 2>"$scratch/message")" && fail "$others: the eval succeeded in a new shell"
  [[ ${SLURM_CONF-} == "$first" ]] || fail "$others: SLURM_CONF is ${SLURM_CONF-unset} in a new shell"
done

test_case "a job of 2 nodes x 8 tasks sees 8 GPUs on each node"
cat >"$scratch/job.sh" <<'JOB'
#!/bin/bash
srun bash -c 'echo $SLURMD_NODENAME $CUDA_VISIBLE_DEVICES'
echo "mpirun on $(hostname)"
mpirun --np 16 --map-by ppr:8:node hostname
srun --ntasks 2 --ntasks-per-node 1 bash -c 'echo "knows $(getent ahostsv4 "$(hostname)" | sed -n "s/ .*//p" | sort -u)"'
JOB
job=$(sbatch --parsable --nodes 2 --ntasks-per-node 8 --gpus-per-node 8 -o "$scratch/job.out" "$scratch/job.sh")
wait_for 60 job_is "$job" COMPLETED || fail "job is $(job_state "$job"): $(cat "$scratch/job.out")"
[[ $(grep -c ' 0,1,2,3,4,5,6,7$' "$scratch/job.out") == 16 ]] || fail "$(cat "$scratch/job.out")"
mapfile -t nodes < <(sinfo -h -N -p low -o %N)

test_case "mpirun reaches both nodes under their own host names"
if "$DTSUBMIT" cluster status --name one --json | grep -q '"host_names": true'; then
  for node in "${nodes[@]}"; do
    [[ $(grep -cx "$node" "$scratch/job.out") == 8 ]] || fail "$(cat "$scratch/job.out")"
  done
else
  echo "SKIPPED: the kernel gives nodes no host names here"
fi

test_case "a node's name has its address inside the cluster"
mounts=(unshare --mount)
[[ $(id -u) == 0 ]] || mounts=(unshare --user --map-root-user --mount)
if [[ $detach == *" env "* ]] && "${mounts[@]}" true 2>/dev/null; then
  expected=$("$DTSUBMIT" cluster status --name one | sed -n "s/^n[a-z]*[0-9]* .* \(127\.[0-9.]*\).*/knows \1/p" | sort)
  [[ $(grep "^knows" "$scratch/job.out" | sort) == "$expected" ]] || fail "not $expected: $(cat "$scratch/job.out")"
else
  echo "SKIPPED: the kernel lets no node have its own /etc/hosts here"
fi

test_case "the daemons listen on loopback addresses only"
if "$DTSUBMIT" cluster status --name one --json | grep -q '"host_names": true'; then
  for port in $(grep -oE '^SlurmctldPort=[0-9]+| Port=[0-9]+' "$SLURM_CONF" | cut -d= -f2); do
    printf -v hex ':%04X' "$port"
    # proc(5), /proc/net/tcp: local address as little-endian hexadecimal; state 0A is LISTEN.
    listening=$(awk -v port="$hex$" '$2 ~ port && $4 == "0A" {print $2}' /proc/net/tcp)
    [[ $listening =~ ^[0-9A-F]{6}7F: ]] || fail "port $port listens on $listening"
  done
fi

test_case "status says what runs where"
status=$("$DTSUBMIT" cluster status --name one --json)
[[ $status == *'"schema": "dtsubmit/cluster/1"'* && $status == *'"running": true'* ]] || fail "$status"
"$DTSUBMIT" cluster status --name one | grep -Eq "^${nodes[0]} +idle +127\." || fail "$("$DTSUBMIT" cluster status --name one)"

test_case "a high job preempts a low one, which is requeued and runs again"
low=$(sbatch --parsable --exclusive --nodes 2 -p low -o /dev/null --wrap "sleep 300")
wait_for 20 job_is "$low" RUNNING || fail "low is $(job_state "$low")"
high=$(sbatch --parsable --exclusive --nodes 2 -p high -o /dev/null --wrap "sleep 1")
wait_for 90 job_is "$high" COMPLETED || fail "high is $(job_state "$high")"
wait_for 40 job_is "$low" RUNNING || fail "low is $(job_state "$low")"
scontrol show job "$low" | grep -q "Restarts=1" || fail "$(scontrol show job "$low")"
scancel "$low"  # or the next job here would have to preempt it, which takes Slurm up to 30 s
wait_for 40 no_jobs || fail "still there: $(squeue)"

test_case "a second cluster beside it has other addresses and ports, and knows nothing of its jobs"
select_cluster --name two "${shape[@]}" --nodes 1
[[ $SLURM_CONF != "$first" ]] || fail "the same configuration"
[[ -z $(comm -12 <(grep -oE 'NodeAddr=[^ ]+' "$first" | sort) <(grep -oE 'NodeAddr=[^ ]+' "$SLURM_CONF" | sort)) ]] ||
  fail "they share addresses"
[[ -z $(squeue -h) ]] || fail "the second cluster sees $(squeue)"
srun -n1 true || fail "no job on the second cluster"

test_case "two ups at once start one cluster"
"$DTSUBMIT" cluster up --name three "${shape[@]}" --nodes 1 >"$scratch/a" &
other=$!
"$DTSUBMIT" cluster up --name three "${shape[@]}" --nodes 1 >"$scratch/b" || fail "one of two ups"
wait "$other" || fail "the other of two ups"
cmp -s "$scratch/a" "$scratch/b" || fail "they disagree"
[[ $(processes_of "$clusters/three" | xargs -I{} cat /proc/{}/comm | grep -cx slurmctld) == 1 ]] || fail "two controllers"
"$DTSUBMIT" cluster down --name three || fail "down"

test_case "after kill -9 of the controller, up starts anew and the orphans of the old one are gone"
SLURM_CONF=$first
orphan=$(sbatch --parsable -p high -o "$scratch/orphan" --wrap "$detach sleep ${number}1; echo \$\$; sleep ${number}1")
wait_for 20 test -s "$scratch/orphan" || fail "the job did not start"
shell=$(cat "$scratch/orphan")
since=$(began "$shell")
for pid in $(processes_of "$clusters/one"); do
  [[ $(cat "/proc/$pid/comm") == slurmctld ]] && kill -9 "$pid"
done
"$DTSUBMIT" cluster status --name one | grep -q "is incomplete" || fail "status did not notice"
select_cluster --name one "${shape[@]}"
lives "$shell" && [[ $(began "$shell") == "$since" ]] && fail "job $orphan survived as $shell"
[[ -z $(squeue -h) ]] || fail "old jobs: $(squeue)"
srun -N2 true || fail "no job on the recovered cluster"

test_case "a stale pid file of a living stranger harms nobody"
sleep 600 &
stranger=$!
echo "$stranger" >"$clusters/one/run/slurmctld.pid"

test_case "down ends everything, detached processes of jobs included, and leaves no file"
sbatch --parsable -p low -o "$scratch/last" --wrap "$detach sleep ${number}2; echo \$\$; sleep ${number}2" >/dev/null
wait_for 20 test -s "$scratch/last" || fail "the job did not start"
shell=$(cat "$scratch/last")
since=$(began "$shell")
"$DTSUBMIT" cluster down --name one || fail "down"
[[ -e $clusters/one ]] && fail "left: $(find "$clusters/one")"
[[ -z $(processes_of "$clusters/one") ]] || fail "left: $(processes_of "$clusters/one")"
lives "$shell" && [[ $(began "$shell") == "$since" ]] && fail "the batch script $shell is left"
for pid in $(pgrep -fx "sleep $number[12]"); do
  lives "$pid" && fail "$(cat "/proc/$pid/cmdline") is left"
done
kill "$stranger" || fail "the stranger was killed"
"$DTSUBMIT" cluster down --name one || fail "a second down is no error"
SLURM_CONF=$clusters/two/slurm.conf srun -n1 true || fail "the other cluster was hurt"

test_case "a cluster ends with its process, even one that is killed; not with another process, nor in the place of an earlier cluster"
sleep 600 &
owner=$!
"$DTSUBMIT" cluster up --name four --nodes 1 --with-process "$owner" >/dev/null || fail "up"
"$DTSUBMIT" cluster down --name four || fail "down before its process"
"$DTSUBMIT" cluster up --name four --nodes 1 >/dev/null || fail "up again"
kill -9 "$owner"
sleep 2.5
[[ -n $(processes_of "$clusters/four") ]] || fail "it ended with the process of an earlier cluster"
sleep 600 &
owner=$!
"$DTSUBMIT" cluster up --name four --nodes 1 --with-process "$owner" >/dev/null || fail "up of a cluster that runs"
kill -9 "$owner"
wait_for 20 test ! -e "$clusters/four" || fail "it is left after its process"
[[ -z $(processes_of "$clusters/four") ]] || fail "left: $(processes_of "$clusters/four")"

test_case "down --all ends the rest; no control group is left"
"$DTSUBMIT" cluster down --all || fail "down --all"
[[ -z $(ls "$clusters") ]] || fail "left: $(ls "$clusters")"
if [[ $flavour == cgroup ]]; then
  for node in "${nodes[@]}"; do
    # Since the name is free, a cluster of another test may have it.
    for conf in $(ps -eo args | sed -n "s/.*slurmd .*-N $node -f //p"); do
      grep -qs 'ProctrackType=proctrack/cgroup' "$conf" && continue 2
    done
    compgen -G "/sys/fs/cgroup/*/slurm_$node" >/dev/null && fail "groups of $node are left"
  done
fi
"$DTSUBMIT" cluster status --name one >/dev/null 2>&1
[[ $? == 6 ]] || fail "status of an absent cluster"
echo "PASSED"
