#!/bin/bash
#SBATCH --nodes=4
srun torchrun --nnodes="$SLURM_NNODES" train.py
