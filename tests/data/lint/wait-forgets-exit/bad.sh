#!/bin/bash
#SBATCH --nodes=2
srun -N1 python train.py --fold 0 &
srun -N1 python train.py --fold 1 &
wait
