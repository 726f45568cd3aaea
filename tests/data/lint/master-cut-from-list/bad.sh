#!/bin/bash
#SBATCH --nodes=2
export MASTER_ADDR=${SLURM_NODELIST:0:9}
srun python train.py
