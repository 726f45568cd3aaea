#!/bin/bash
#SBATCH --nodes=2
#SBATCH --nodelist=node[017-018]
export MASTER_ADDR=node017
srun python train.py
