#!/bin/bash
#SBATCH --nodes=1
srun python train.py
rc=$?
echo done
exit $rc
