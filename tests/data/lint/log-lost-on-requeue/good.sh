#!/bin/bash
#SBATCH --requeue
#SBATCH --output=train-%j.out
#SBATCH --open-mode=append
hostname
