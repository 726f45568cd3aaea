#!/bin/bash
#SBATCH --nodes=2
export MASTER_ADDR=localhost
srun python train.py
