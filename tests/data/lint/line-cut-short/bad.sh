#!/bin/bash
#SBATCH --nodes=1
ARGS=(
  --layers 4 \ # of the small model
  --seed 1
)
srun ./prog "${ARGS[@]}"
