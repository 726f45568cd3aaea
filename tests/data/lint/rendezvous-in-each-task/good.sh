#!/bin/bash
#SBATCH --nodes=2
export MASTER_ADDR=$(hostname)
srun bash -c 'export RANK=$SLURM_PROCID; python train.py'
