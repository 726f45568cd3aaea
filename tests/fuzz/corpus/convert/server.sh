#!/bin/bash
#SBATCH -N 4
HOSTS=( $(scontrol show hostnames) )
LAST=${HOSTS[-1]}
for H in ${HOSTS[@]:0:3}; do
  srun -N1 -n1 -w $H worker $LAST:7000 & pids+=($!)
  sleep 2
done
srun -N1 -n1 --nodelist="$LAST" server --port 7000 &
(srun --container-image=a --container-name=b true) |& tee log
for p in "${pids[@]}"; do wait $p; done
