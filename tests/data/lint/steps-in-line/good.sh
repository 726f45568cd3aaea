#!/bin/bash
#SBATCH --nodes=1
srun --overlap --ntasks=1 ./monitor &
srun --overlap python train.py
