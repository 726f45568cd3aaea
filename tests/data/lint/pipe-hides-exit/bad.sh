#!/bin/bash
#SBATCH --nodes=1
srun python train.py 2>&1 | tee train.log
