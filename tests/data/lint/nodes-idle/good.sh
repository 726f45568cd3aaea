#!/bin/bash
#SBATCH --nodes=2
srun torchrun --nnodes="$SLURM_NNODES" --nproc_per_node=8 train.py
