#!/bin/bash
#SBATCH --time=24:00:00
srun python train.py --epochs 90 --resume auto
