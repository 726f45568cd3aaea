#!/bin/bash
#SBATCH --nodes=2
srun bash -c 'export MASTER_ADDR=$(hostname); python train.py'
