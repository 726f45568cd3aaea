#!/bin/bash
#SBATCH --nodes=2
srun bash -c "torchrun --node_rank $SLURM_PROCID train.py"
