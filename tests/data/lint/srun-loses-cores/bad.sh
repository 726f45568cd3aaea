#!/bin/bash
#SBATCH --cpus-per-task=8
srun python train.py
