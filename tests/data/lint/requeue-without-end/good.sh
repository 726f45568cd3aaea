#!/bin/bash
#SBATCH --open-mode=append
srun python train.py || [ "$SLURM_RESTART_COUNT" -ge 3 ] || scontrol requeue "$SLURM_JOB_ID"
