#!/bin/bash
#SBATCH --nodes=2
MASTER_ADDR=$(hostname --ip-address)
srun python train.py
