#!/bin/bash
#SBATCH --export=NONE
module load cuda
export SLURM_EXPORT_ENV=ALL
srun python train.py
