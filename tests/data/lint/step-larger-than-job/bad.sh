#!/bin/bash
#SBATCH --nodes=2
srun --nodes=4 python train.py
