#!/bin/bash
#SBATCH --nodes=2
torchrun --nnodes="$SLURM_NNODES" --nproc_per_node=8 train.py
