#!/bin/bash
#SBATCH --nodes=2
export MASTER_PORT=$((20000 + SLURM_JOB_ID % 12000))
JUPYTER_PORT=8888
srun python train.py
