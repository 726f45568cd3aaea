#!/bin/bash
#SBATCH --signal=USR1@120
export TORCHELASTIC_SIGNALS_TO_HANDLE=SIGTERM,SIGINT,SIGUSR1
srun torchrun --nproc_per_node=8 train.py
