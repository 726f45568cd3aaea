#!/bin/bash
#SBATCH --nodes=1
set -o pipefail
srun python train.py 2>&1 | tee train.log
