#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks=16
#SBATCH --gpus-per-node=8
mpirun ./train
