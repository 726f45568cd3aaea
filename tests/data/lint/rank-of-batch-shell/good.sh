#!/bin/bash
#SBATCH --nodes=2
CMD="torchrun --node_rank \$SLURM_PROCID train.py"
srun bash -c "$CMD"
srun bash -c 'torchrun --node_rank $SLURM_NODEID train.py'
