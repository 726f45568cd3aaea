#!/bin/bash
#SBATCH --signal=B:USR1@120
trap 'touch stop' USR1
srun python train.py &
wait $!
