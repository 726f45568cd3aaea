#!/bin/bash
#SBATCH --export=NONE
module load cuda
srun python train.py
