#!/bin/bash
#SBATCH --array=0-9
srun python train.py || scontrol requeue "$SLURM_JOB_ID"
