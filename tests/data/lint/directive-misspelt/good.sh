#!/bin/bash
#SBATCH --nodes=1
##SBATCH --time=1:00:00
# SBATCH --mem=4G
# sbatch --time=2:00:00 train.sh
hostname
