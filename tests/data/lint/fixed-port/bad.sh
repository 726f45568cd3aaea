#!/bin/bash
#SBATCH --nodes=2
export MASTER_PORT=29500
srun python train.py
