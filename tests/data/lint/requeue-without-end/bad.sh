#!/bin/bash
#SBATCH --open-mode=append
srun python train.py
scontrol requeue "$SLURM_JOB_ID"
