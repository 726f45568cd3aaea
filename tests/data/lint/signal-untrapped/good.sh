#!/bin/bash
#SBATCH --signal=B:USR1@120
trap save USR1
srun python train.py &
wait
