#!/bin/bash
#SBATCH --nodes=2
export MASTER_ADDR=node017
srun python train.py
