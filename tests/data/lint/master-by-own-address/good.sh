#!/bin/bash
#SBATCH --nodes=2
MASTER_ADDR=$(hostname)
srun python train.py
