#!/bin/bash
#SBATCH --nodes=4
srun --nodes=2 python train.py
