#!/bin/bash
#SBATCH --kill-on-bad-exit=1
srun hostname
