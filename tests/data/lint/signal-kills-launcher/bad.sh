#!/bin/bash
#SBATCH --signal=USR1@120
srun torchrun --nproc_per_node=8 train.py
