#!/bin/bash
#SBATCH --nodes=4
srun torchrun --nnodes=4 train.py
