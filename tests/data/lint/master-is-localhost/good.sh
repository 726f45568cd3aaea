#!/bin/bash
#SBATCH --nodes=1
export MASTER_ADDR=localhost
srun python train.py
