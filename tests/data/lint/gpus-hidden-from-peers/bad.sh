#!/bin/bash
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-task=1
srun python train.py
