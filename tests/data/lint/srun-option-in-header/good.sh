#!/bin/bash
#SBATCH --ntasks=2
srun --kill-on-bad-exit=1 hostname
