#!/bin/bash
#SBATCH --nodes=2
srun torchrun --nnodes 2 --node_rank \$SLURM_PROCID --master_addr $HEAD train.py
