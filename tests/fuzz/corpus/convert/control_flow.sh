#!/bin/bash
#SBATCH --nodes=2 --account=<account> --time={{ time }}
#SBATCH --array=0-N --cpus-per-gpu=2
run() { echo "$@"; "$@"; }
: "${IMAGE:=$(pwd)/a.sqsh}"
CACHE=<cache folder>
if [ ! -z $MOUNT ]; then
  A=(--container-mounts $MOUNT)
elif [[ $IMAGE == *.sqsh && -n $1 ]]; then
  A+=(--container-image "$IMAGE")
else A=(); fi
for i in {1..3} $(seq 2); do
  for ((j = 0; j < 2; j++)); do
    N=run-$i-$j
    [ $j = 1 ] && N+=x
    run srun "${A[@]}" python t.py --name $N --cache $CACHE
  done
done
python p.py
srun bash -c "$N"
code=$?
if [ $code -ne 0 ]; then touch failed; fi
