#!/bin/bash
#SBATCH --time=1:00:00
[ -e done ] || sbatch --dependency=afterany:"$SLURM_JOB_ID" "$0"
srun python train.py
