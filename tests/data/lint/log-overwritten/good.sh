#!/bin/bash
#SBATCH --output=train.out
#SBATCH --open-mode=append
hostname
