#!/bin/bash
#SBATCH --array=0-9
srun python train.py || scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
