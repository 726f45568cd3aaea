#!/bin/bash
#SBATCH --cpus-per-task=8
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" python train.py
