#!/bin/bash
#SBATCH --nodes=1
srun ./monitor &
srun python train.py
