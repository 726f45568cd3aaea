#!/bin/bash
#SBATCH --nodes=4
NNODES=$SLURM_NNODES
srun torchrun --nnodes=$NNODES train.py
