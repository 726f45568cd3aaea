#!/bin/bash
#SBATCH --nodes=4
NNODES=2
srun torchrun --nnodes=$NNODES train.py
